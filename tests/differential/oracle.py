"""A second reading of a client's bytes: the strictest grammar of RFC 9112, as one page of regular expressions.

It shares no code with the gateway. Whatever the gateway serves must be a request here too, with the same body, in the
same order; it may serve less.
"""
import re
from typing import NamedTuple

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
VALUE = rb"[\t\x20-\x7e\x80-\xff]*"
FIRST = re.compile(rb"(" + TOKEN + rb") ([\x21\x22\x24-\x7e]+) HTTP/1\.([01])\r\n")
FIELD = re.compile(rb"(" + TOKEN + rb"):(" + VALUE + rb")\r\n")
QUOTED = rb'"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\' + rb'[\t\x20-\x7e\x80-\xff])*"'
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;" + TOKEN + rb"(?:=(?:" + TOKEN + rb"|" + QUOTED + rb"))?)*\r\n")
TRAILERS = re.compile(rb"(?:" + TOKEN + rb":" + VALUE + rb"\r\n)*\r\n")
HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z\-._~!$&'()*+,;=%]+)(?::[0-9]*)?")


class Request(NamedTuple):
    method: bytes
    path: bytes  # without the query, and without the authority of an absolute target
    body: bytes


class Refused(Exception):
    """These bytes are no request."""


class Incomplete(Exception):
    """More bytes would be needed."""


def read_fields(data, at):
    fields = {}
    while data[at:at + 2] != b"\r\n":
        field = FIELD.match(data, at)
        if not field:
            raise Refused if b"\r\n\r\n" in data[at:] else Incomplete
        fields.setdefault(field[1].lower(), []).append(field[2].strip(b" \t"))
        at = field.end()
    return fields, at + 2


def read_chunks(data, at):
    body = b""
    while True:
        chunk = CHUNK.match(data, at)
        if not chunk:
            raise Refused if b"\r\n" in data[at:] else Incomplete
        size, at = int(chunk[1], 16), chunk.end()
        if size == 0:
            trailers = TRAILERS.match(data, at)
            if not trailers:
                raise Refused if b"\r\n\r\n" in data[at - 2:] else Incomplete
            return body, trailers.end()
        if len(data) < at + size + 2:
            raise Incomplete
        if data[at + size:at + size + 2] != b"\r\n":
            raise Refused
        body += data[at:at + size]
        at += size + 2


def read_body(fields, data, at):
    lengths, codings = fields.get(b"content-length", []), fields.get(b"transfer-encoding", [])
    if len(lengths) + len(codings) > 1:
        raise Refused
    if codings:
        if codings[0].lower() != b"chunked":
            raise Refused
        return read_chunks(data, at)
    if lengths:
        if not lengths[0].isdigit():
            raise Refused
        end = at + int(lengths[0])
        if end > len(data):
            raise Incomplete
        return data[at:end], end
    return b"", at


def path_of(target, hosts):
    if target.startswith(b"/") or target == b"*":
        return target.partition(b"?")[0]
    absolute = re.fullmatch(rb"(?i:https?)://([^/?]+)(.*)", target)
    if not absolute or [absolute[1].lower()] != [host.lower() for host in hosts]:
        raise Refused
    return absolute[2].partition(b"?")[0] or b"/"


def read_request(data, at):
    """The request at `at`, where the next one begins, and whether a next one is served."""
    for _ in range(2):
        at += 2 if data[at:at + 2] == b"\r\n" else 0
    first = FIRST.match(data, at)
    if not first:
        raise Refused if b"\r\n" in data[at:] else Incomplete
    fields, at = read_fields(data, first.end())
    minor, hosts = first[3], fields.get(b"host", [])
    if len(hosts) > 1 or (minor == b"1" and not hosts) or not all(HOST.fullmatch(host) for host in hosts):
        raise Refused
    if minor == b"0" and b"transfer-encoding" in fields:
        raise Refused
    if minor == b"1" and any(value.lower() != b"100-continue" for value in fields.get(b"expect", [])):
        raise Refused
    path = path_of(first[2], hosts)
    options = [option.strip(b" \t").lower() for value in fields.get(b"connection", []) for option in value.split(b",")]
    body, at = read_body(fields, data, at)
    stays = b"close" not in options and (minor == b"1" or b"keep-alive" in options)
    return Request(first[1], path, body), at, stays


def read(data):
    """All requests of a connection's bytes."""
    requests, at, stays = [], 0, True
    try:
        while stays and at < len(data):
            request, at, stays = read_request(data, at)
            requests.append(request)
    except (Refused, Incomplete):
        pass
    return requests
