"""A provider of four dialects on a loopback port, for tool loops of many turns: as strict as the real ones, so that a
request that was translated wrongly is refused with the fault's name, and the loop that sent it fails.

The first segment of the path is the connection: chat, plain, messages, adaptive, responses, gemini, level. Streams are sent in
packets that end anywhere, in the middle of a character too. GET /seen/TAG tells what came of a conversation.
"""
import http.server
import json
import sys
import threading
import zlib

import chat
import gemini
import messages
import responses
import story
from strict import Down, Wrong

DIALECTS = {"chat": chat, "plain": chat, "messages": messages, "adaptive": messages, "responses": responses, "gemini": gemini,
            "level": gemini}
PACKETS = (1, 61, 7, 190, 2, 33, 400, 5)


def model_of(path, body):
    return body.get("model") or path.rpartition("/models/")[2].partition(":")[0]


def down_for(connection, model):
    """ "A-then-B": A is down from the second turn on; "A-flaps-B": at the second turn."""
    first, word, _ = (model.split("-") + ["", ""])[:3]
    if first != connection or word not in ("then", "flaps"):
        return lambda turn: False
    return (lambda turn: turn >= 2) if word == "then" else (lambda turn: turn == 2)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Nothing is said: what failed is told to the client."""

    def do_GET(self):
        with self.server.lock:
            seen = self.server.seen.get(self.path.removeprefix("/seen/"), [])
        self.send_whole(200, seen)

    def do_POST(self):
        connection, _, rest = self.path.removeprefix("/").partition("/")
        dialect = DIALECTS[connection]
        raw = self.rfile.read(int(self.headers["content-length"])).decode()
        try:
            asked, reply = self.answer(connection, dialect, f"/{rest}", json.loads(raw), raw)
        except Wrong as wrong:
            self.send_whole(400, dialect.error(400, str(wrong), wrong.where))
        except Down:
            self.send_whole(503, dialect.error(503, "Overloaded"))
        else:
            if asked.stream:
                self.send_stream(dialect.stream(asked, reply))
            else:
                self.send_whole(200, dialect.whole(asked, reply))

    def answer(self, connection, dialect, path, body, raw):
        if getattr(dialect, "PATHS", (path,)).count(path) == 0:
            raise Wrong("path", f"Not Found: {path}")
        self.check_head(dialect)
        asked = dialect.read(body, f"/{connection}{path}")
        story.check_nothing_foreign(asked.dialect, raw)
        note = {"connection": connection, "stream": asked.stream, "thinking": asked.thinking, "opaque": asked.opaque,
                "said": len(asked.said), "forced": asked.forced, "down": False}
        with self.server.lock:
            self.server.seen.setdefault(story.place(asked)[1], []).append(note)
        try:
            return asked, story.reply(asked, down_for(connection, model_of(path, body)))
        except Down:
            note["down"] = True
            raise

    def check_head(self, dialect):
        """The key stands where the dialect has it."""
        names = {chat: "authorization", responses: "authorization", messages: "x-api-key", gemini: "x-goog-api-key"}
        if self.headers.get(names[dialect], "").removeprefix("Bearer ") != "sk-upstream-secret-0123456789":
            raise Wrong(names[dialect], "no key")
        if dialect is messages and not self.headers.get("anthropic-version"):
            raise Wrong("anthropic-version", "is required")

    def send_whole(self, status, value):
        body = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        data = "".join(events).encode()
        at, turn = 0, zlib.crc32(data)
        while at < len(data):
            packet = data[at:at + PACKETS[turn % len(PACKETS)]]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(packet), packet))
            at, turn = at + len(packet), turn + 1
        self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A gateway may leave in the middle of what is sent to it; anything else is the stub's own fault."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Stub:
    """Serves until the block ends; `address` is host:port."""

    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.lock, self.server.seen = threading.Lock(), {}
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
