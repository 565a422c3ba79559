"""The backend that records, and the client that sends: both sides of one proxy, in one event loop."""
import asyncio
import json
import re
from typing import NamedTuple

ANSWER_BODY = json.dumps({
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "recorded"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
STREAM_BODY = b"".join(b"data: %s\n\n" % text for text in (
    b'{"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"recorded"}}]}',
    b'{"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
    b"[DONE]"))
STREAM = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
          b"%x\r\n%s\r\n0\r\n\r\n" % (len(STREAM_BODY), STREAM_BODY))
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER_BODY)

STREAM_ASKED = b'"stream":true'

# Behind each case, on the same connection, stands a request whose answer is known. Where it is answered, everything
# before it was taken for whole requests.
SENTINEL = b"GET /readyz HTTP/1.1\r\nHost: sentinel\r\n\r\n"
SENTINEL_SEEN = (b"SENTINEL", b'{"status":"ready"}\n')
CUT_SECONDS = 0.002
STATUS = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r]")


class Recorded(NamedTuple):
    method: bytes
    target: bytes
    body: bytes
    raw: bytes


class Recorder:
    """A listening port. `requests` is what has come since begin(), `strange` the bytes that were no request."""

    def __init__(self):
        self.requests, self.strange, self.connections, self.port = [], [], set(), 0

    async def start(self):
        server = await asyncio.get_running_loop().create_server(lambda: RecorderConnection(self), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    def begin(self):
        self.requests, self.strange = [], []

    def unread(self):
        """Bytes of requests that did not come to their end."""
        return [bytes(connection.data) for connection in self.connections if connection.data]

    def drop(self):
        """Nothing of this case may come late into the next one."""
        for connection in list(self.connections):
            connection.transport.abort()
        self.connections.clear()


class RecorderConnection(asyncio.Protocol):
    def __init__(self, recorder):
        self.recorder, self.transport, self.data = recorder, None, bytearray()

    def connection_made(self, transport):
        self.transport = transport
        self.recorder.connections.add(self)

    def connection_lost(self, _error):
        if self.data and self in self.recorder.connections:
            self.recorder.strange.append(bytes(self.data))
        self.recorder.connections.discard(self)

    def data_received(self, data):
        self.data += data
        while self.data:
            head = self.data.find(b"\r\n\r\n")
            if head < 0:
                return
            try:
                used, body = self.read_body(bytes(self.data[:head + 2]), head + 4)
            except ValueError:
                self.recorder.strange.append(bytes(self.data))
                self.data.clear()
                self.transport.abort()
                return
            if used < 0:
                return
            self.take(bytes(self.data[:used]), body)
            del self.data[:used]

    def read_body(self, head, at):
        """Where the request ends, or -1, and its body. ValueError when it is none."""
        length = re.findall(rb"(?i)\r\ncontent-length: *(\d+)\r\n", head)
        if re.search(rb"(?i)\r\ntransfer-encoding: *chunked\r\n", head):
            return self.read_chunks(at)
        if not re.match(rb"[A-Za-z]+ \S+ HTTP/1\.[01]\r\n", head) or len(length) > 1:
            raise ValueError(head)
        end = at + (int(length[0]) if length else 0)
        return (end, bytes(self.data[at:end])) if end <= len(self.data) else (-1, b"")

    def read_chunks(self, at):
        body = b""
        while True:
            end = self.data.find(b"\r\n", at)
            if end < 0:
                return -1, b""
            size = int(self.data[at:end].partition(b";")[0], 16)
            if size == 0:
                last = self.data.find(b"\r\n\r\n", end)
                return (-1, b"") if last < 0 else (last + 4, body)
            if len(self.data) < end + 2 + size + 2:
                return -1, b""
            body += self.data[end + 2:end + 2 + size]
            at = end + 2 + size + 2

    def take(self, raw, body):
        method, target = raw.split(b" ", 2)[:2]
        self.recorder.requests.append(Recorded(method, target, body, raw))
        if method == b"HEAD":
            self.transport.write(ANSWER)
        else:
            self.transport.write(STREAM if STREAM_ASKED in body else ANSWER + ANSWER_BODY)


class Sender(asyncio.Protocol):
    """A client's connection to one proxy, kept while the proxy keeps it."""

    def __init__(self, path):
        self.path, self.transport, self.data, self.done = path, None, bytearray(), None

    def data_received(self, data):
        self.data += data
        if self.done and not self.done.done() and self.data.endswith(SENTINEL_SEEN):
            self.done.set_result("in step")

    def connection_lost(self, _error):
        self.transport = None
        if self.done and not self.done.done():
            self.done.set_result("closed")

    async def play(self, data, cut, seconds):
        """Sends the case, in two parts where it is cut. Returns how it ended, "in step", "closed" or "waits", and what was
        answered."""
        loop = asyncio.get_running_loop()
        if self.transport is None or self.transport.is_closing():
            self.transport, _ = await loop.create_unix_connection(lambda: self, self.path)
        self.done = loop.create_future()
        self.data.clear()
        if cut:
            self.transport.write(data[:cut])
            await asyncio.sleep(CUT_SECONDS)
        if self.transport is not None:  # it may be refused already
            self.transport.write(data[cut:] + SENTINEL)
        timer = loop.call_later(seconds, self.give_up)
        end = await self.done
        timer.cancel()
        if end != "in step" and self.transport is not None:
            self.transport.abort()
            self.transport = None
        return end, bytes(self.data)

    def give_up(self):
        if not self.done.done():
            self.done.set_result("waits")


class Outcome(NamedTuple):
    end: str
    statuses: list   # of all final answers, the sentinel's too
    upstream: int    # how many of them the gateway says come from an upstream
    requests: list   # what the backend recorded
    strange: list
    answer: bytes

    def __str__(self):
        lines = [f"{self.end}, answers {self.statuses}"]
        lines += [f"  recorded {request.raw!r}" for request in self.requests]
        lines += [f"  no request {data!r}" for data in self.strange]
        return "\n".join(lines + [f"  answered {self.answer[:600]!r}"])


class Proxy:
    """One proxy of one lane, between a client and a recorder of its own."""

    def __init__(self, path, recorder):
        self.sender, self.recorder = Sender(path), recorder

    async def play(self, data, cut, seconds):
        self.recorder.begin()
        end, answer = await self.sender.play(data, cut, seconds)
        statuses = [int(status) for status in STATUS.findall(answer)]
        outcome = Outcome(end, statuses, len(re.findall(rb"(?i)\r\nx-acog-connection:", answer)),
                          self.recorder.requests, self.recorder.strange + self.recorder.unread(), answer)
        if end == "waits" or outcome.strange:
            self.recorder.drop()
        return outcome
