#!/usr/bin/env python3
"""TLS through the whole binary: a listener that verifies clients, its certificates replaced while it serves, and a second
gateway in front of it that verifies it.

    tls_test.py ACOG

Where sslscan is installed, it must find nothing weak.
"""
import io
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from running import Running, configuration  # noqa: E402

WORDS = " ".join(str(number) for number in range(4000))
CIPHERS = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
           "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"}

SERVER = """local acog = require "acog"
return acog.gateway {
  listen = { address = "127.0.0.1:0", certificate_file = "@/server.pem", key_file = "@/server.key",
    client_certificates = "@CLIENTS", client_ca_file = "@/ca.pem" },
  admin = { address = "127.0.0.1:0", certificate_file = "@/server.pem", key_file = "@/server.key" },
  workers = 2, limits = { head_ms = 300 },
  connections = {
    acog.connection "only" { dialects = { "chat" }, models = { "m" }, simulate = { text = "@WORDS" } },
  },
}
"""

FRONT = """local acog = require "acog"
local base = require "policies.acog"
local function over_tls(id, fields)
  fields.dialects, fields.models, fields.base_url = "chat", { id }, "https://127.0.0.1:@PORT/v1"
  return acog.connection(id)(fields)
end
return acog.gateway {
  listen = "127.0.0.1:0", workers = 1,
  policy = base:with { health = { threshold = 255 } },
  connections = {
    over_tls("m", { ca_file = "@/ca.pem", client_certificate_file = "@/client.pem", client_key_file = "@/client.key",
      tls = { minimum = "1.3" } }),
    over_tls("no-certificate", { ca_file = "@/ca.pem" }),
    over_tls("stranger", { ca_file = "@/stranger.pem", client_certificate_file = "@/client.pem",
      client_key_file = "@/client.key" }),
  },
}
"""


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_certificate(folder, name, authority=None):
    """NAME.pem and NAME.key; signed by itself, or by `authority` and put in the place of older ones."""
    made, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-days", "2"]
    if authority is None:
        openssl("req", "-x509", *kind, "-keyout", key, "-out", made)
    else:
        openssl("req", "-x509", *kind, "-keyout", f"{key}.new", "-out", f"{made}.new",
                "-CA", f"{folder}/{authority}.pem", "-CAkey", f"{folder}/{authority}.key",
                "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE")
        os.replace(f"{key}.new", key)
        os.replace(f"{made}.new", made)


def port_of(address):
    return int(address.rsplit(":", 1)[1])


def client_context(folder, certificate="client"):
    context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    context.set_alpn_protocols(["h2", "http/1.1"])
    if certificate:
        context.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
    return context


def connect(address, context):
    raw = socket.create_connection(("127.0.0.1", port_of(address)), 30)
    return context.wrap_socket(raw, server_hostname="127.0.0.1")


def post(connection, model="m", stream=True):
    """The bytes of one reply, until the server closes."""
    body = json.dumps({"model": model, "stream": stream, "messages": [{"role": "user", "content": "hello"}]}).encode()
    connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                       b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    reply = b""
    while piece := connection.recv(65536):
        reply += piece
    return reply


def text_of(reply):
    """The texts of a streamed reply, joined; its chunks are taken apart first."""
    head, rest = reply.split(b"\r\n\r\n", 1)
    assert b" 200 " in head.split(b"\r\n")[0], reply[:500]
    body, chunks = bytearray(), io.BytesIO(rest)
    while size := int(chunks.readline(), 16):
        body += chunks.read(size)
        chunks.readline()
    events = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ") and line != "data: [DONE]"]
    assert body.endswith(b"data: [DONE]\n\n"), body[-200:]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def lines(log, event):
    with open(log, encoding="utf-8") as file:
        found = [json.loads(line) for line in file if line.startswith("{") and line.endswith("\n")]
    return [line for line in found if line["event"] == event]


def wait_for(log, event, count, seconds=15):
    """The lines of that event, when there are so many."""
    deadline = time.monotonic() + seconds
    while len(found := lines(log, event)) < count:
        assert time.monotonic() < deadline, f"{len(found)} lines of {event}, not {count}: {open(log).read()[-2000:]}"
        time.sleep(0.02)
    return found


def serves_clients(gateway, folder):
    with connect(gateway.listen, client_context(folder)) as connection:
        assert connection.version() == "TLSv1.3", connection.version()
        assert connection.selected_alpn_protocol() == "http/1.1"
        assert text_of(post(connection)) == WORDS
    with connect(gateway.admin, client_context(folder, certificate=None)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 "), "the admin listener has TLS too"


def refuses_others(gateway, folder, log):
    def refused(why):
        line = wait_for(log, "tls_refused", refused.count + 1)[-1]
        refused.count += 1
        assert why in line["why"], line

    refused.count = 0
    with socket.create_connection(("127.0.0.1", port_of(gateway.listen)), 30) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        assert plain.recv(100) == b"", "plain HTTP got an answer"
    refused("plain HTTP")
    old = client_context(folder)
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    expect_failure(gateway, old)
    refused("unsupported protocol")
    expect_failure(gateway, client_context(folder, certificate=None))
    refused("did not return a certificate")
    expect_failure(gateway, client_context(folder, certificate="stranger"))
    refused("self-signed certificate")
    with socket.create_connection(("127.0.0.1", port_of(gateway.listen)), 30) as silent:
        assert silent.recv(100) == b"", "a handshake that does not come has limits.head_ms"
    refused("in time")


def expect_failure(gateway, context):
    """In the handshake, or, as TLS 1.3 has it for a client's certificate, at the first byte."""
    try:
        with connect(gateway.listen, context) as connection:
            reply = post(connection)
    except (ssl.SSLError, ConnectionError):
        return
    raise AssertionError(f"it was served: {reply[:200]}")


def serial_of(gateway, folder):
    with connect(gateway.listen, client_context(folder)) as connection:
        return connection.getpeercert()["serialNumber"]


def takes_new_certificates(gateway, folder, log):
    first = serial_of(gateway, folder)
    held = connect(gateway.listen, client_context(folder))
    held.sendall(b"GET /nothing HTTP/1.1\r\nHost: test\r\n\r\n")
    assert held.recv(65536).startswith(b"HTTP/1.1 404 ")
    make_certificate(folder, "server", "ca")
    loaded = wait_for(log, "certificate_loaded", 2)
    assert {line["listener"] for line in loaded} == {"listen", "admin"}
    second = serial_of(gateway, folder)
    assert first != second
    with open(f"{folder}/server.pem", "w", encoding="utf-8") as file:
        file.write("not a certificate\n")
    rejected = wait_for(log, "certificate_rejected", 2)
    assert rejected[0]["file"] == f"{folder}/server.pem" and "no start line" in rejected[0]["why"], rejected
    assert serial_of(gateway, folder) == second, "the old certificate is used on"
    make_certificate(folder, "server", "ca")
    wait_for(log, "certificate_loaded", 4)
    assert serial_of(gateway, folder) not in (first, second)
    with held:
        assert text_of(post(held)) == WORDS, "a connection of before goes on"


def is_verified_by_another_gateway(acog, gateway, folder):
    log = f"{folder}/front.log"
    text = FRONT.replace("@PORT", str(port_of(gateway.listen))).replace("@/", folder + "/")
    with open(log, "wb") as file, Running(acog, configuration(text), log=file) as front:
        def ask(model, stream):
            with socket.create_connection(("127.0.0.1", port_of(front.listen)), 30) as connection:
                return post(connection, model, stream)

        with open(f"{folder}/client.key", encoding="utf-8") as key:
            secret = key.read().split("\n")[1]
        assert text_of(ask("m", True)) == WORDS
        failures = {"no-certificate": "alert certificate required", "stranger": "unable to get local issuer certificate"}
        for model, why in failures.items():
            reply = ask(model, False)
            assert reply.startswith(b"HTTP/1.1 502 ") and secret.encode() not in reply, reply
            line = wait_for(log, "request", 2 + list(failures).index(model))[-1]
            assert line["class"] == "network" and why in line["why"], line
    return log, secret


def finds_nothing_weak(gateway):
    if shutil.which("sslscan") is None:
        print("sslscan is not installed: skipped")
        return
    scan = subprocess.run(["sslscan", "--xml=-", "--no-colour", f"127.0.0.1:{port_of(gateway.listen)}"], check=True,
                          capture_output=True, text=True).stdout
    test = xml.etree.ElementTree.fromstring(scan).find("ssltest")
    versions = {f"{row.get('type')}{row.get('version')}" for row in test.findall("protocol") if row.get("enabled") == "1"}
    assert versions == {"tls1.2", "tls1.3"}, versions
    ciphers = {row.get("cipher") for row in test.findall("cipher")}
    assert ciphers and ciphers <= CIPHERS, ciphers - CIPHERS
    assert test.find("renegotiation").get("supported") == "0", "renegotiation"
    compression = test.find("compression")  # absent where sslscan itself cannot compress, as on Debian
    assert compression is None or compression.get("supported") == "0", "compression"
    assert all(row.get("vulnerable") == "0" for row in test.findall("heartbleed"))
    print(f"sslscan: {len(ciphers)} ciphers, {', '.join(sorted(versions))}")


def main():
    acog = sys.argv[1]
    warnings.simplefilter("ignore", DeprecationWarning)  # of TLS 1.1, which is what is tested
    with tempfile.TemporaryDirectory(prefix="acog-tls-") as folder:
        for name in ("ca", "stranger"):
            make_certificate(folder, name)
        for name in ("server", "client"):
            make_certificate(folder, name, "ca")
        text = SERVER.replace("@WORDS", WORDS).replace("@/", folder + "/")
        log = f"{folder}/gateway.log"
        with open(log, "wb") as file, Running(acog, configuration(text.replace("@CLIENTS", "required")), log=file) as gateway:
            serves_clients(gateway, folder)
            refuses_others(gateway, folder, log)
            takes_new_certificates(gateway, folder, log)
            front, secret = is_verified_by_another_gateway(acog, gateway, folder)
        for path in (front, log):
            with open(path, encoding="utf-8") as file:
                assert secret not in file.read(), f"{path} holds a key"
        with Running(acog, configuration(text.replace("@CLIENTS", "optional")), log=subprocess.DEVNULL) as gateway:
            finds_nothing_weak(gateway)


if __name__ == "__main__":
    main()
