"""What tests over real sockets share: an acog that serves, and a provider whose answers a test decides."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request


class Running:
    """An acog that serves until the block ends; its exit code must then be 0.

    `listen` and `admin` are "host:port" as the READY line tells them."""

    def __init__(self, acog, configuration, environment=None, log=None, options=()):
        self.process = subprocess.Popen([acog, "serve", configuration, *options], stdout=subprocess.PIPE, stderr=log,
                                        text=True, env={**os.environ, **(environment or {})})
        ready = self.process.stdout.readline()
        found = re.match(r"READY listen=(\S+)(?: admin=(\S+))?", ready)
        if not found:
            raise SystemExit(f"{configuration}: no READY line but {ready!r}")
        self.listen, self.admin = found.groups()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            raise SystemExit(f"acog ended with {self.process.returncode}")

    def status(self):
        """/status.json of the admin listener."""
        with urllib.request.urlopen(f"http://{self.admin}/status.json", timeout=5) as answer:
            return json.load(answer)

    def wait_until(self, what, condition, seconds=10):
        """Asks /status.json until `condition` of it is true; fails with `what` after that many seconds."""
        deadline = time.monotonic() + seconds
        while not condition(status := self.status()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not in {seconds} s: {json.dumps(status)[:2000]}")
            time.sleep(0.01)
        return status


class Client:
    """One keep-alive connection to a gateway, on which one request at a time is sent."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 30)
        self.reader = self.socket.makefile("rb")

    def send(self, path, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers)
        self.socket.sendall(head.encode() + b"\r\n" + data)

    def receive(self):
        """Status, headers, body of a whole answer."""
        status = int(self.reader.readline().split()[1])
        headers = {}
        while line := self.reader.readline().strip().decode("latin-1"):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("transfer-encoding") != "chunked":
            return status, headers, self.reader.read(int(headers.get("content-length", 0)))
        body = bytearray()  # which grows in place
        while size := int(self.reader.readline(), 16):
            body += self.reader.read(size)
            self.reader.readline()
        self.reader.readline()
        return status, headers, bytes(body)

    def post(self, path, body, headers=()):
        self.send(path, body, headers)
        return self.receive()

    def close(self):
        self.reader.close()
        self.socket.close()


class Provider:
    """A provider on a loopback port: `answer(head, body)` gives bytes to send, or None to close at once.

    Each connection has a thread. `requests` counts what came."""

    def __init__(self, answer):
        self.answer, self.requests = answer, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            while request := self.read(reader):
                with self.lock:
                    self.requests += 1
                answer = self.answer(*request)
                if answer is None:
                    return
                try:
                    connection.sendall(answer)
                except OSError:
                    return

    @staticmethod
    def read(reader):
        try:
            line = reader.readline()
        except OSError:
            return None
        if not line:
            return None
        head = {":line": line.strip().decode("latin-1")}
        while field := reader.readline().strip().decode("latin-1"):
            name, _, value = field.partition(":")
            head[name.lower()] = value.strip()
        return head, reader.read(int(head.get("content-length", 0)))


def whole(status, value, headers=()):
    """An HTTP answer with a JSON body."""
    body = json.dumps(value).encode()
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {text}" for name, text in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chat_answer(text="hello", model="m"):
    message = {"role": "assistant", "content": text}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def configuration(text):
    """A file with `text` in a folder of its own; both go when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="acog-test-")
    configuration.folders.append(folder)
    path = os.path.join(folder.name, "gateway.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


configuration.folders = []
