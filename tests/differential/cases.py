"""Requests that a case number makes: a grammar with odd choices in it, and odd bytes on top.

case(seed, number) is always the same bytes. A case is one or two requests to the chat surface whose bodies carry the
number; what is wrong with it, if anything, is in `notes`, for whoever reads a finding.
"""
import random

CHAT = b"/v1/chat/completions"
HOST = b"gateway.test"
SPACE_NAMES = [b" ", b"\t", b"  ", b"\x0b", b"\x0c", b"\xa0", b"\r", b"\n", b"\0"]
ODD_BYTES = [b"\0", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\x0b", b"\x7f", b"\x80", b"\xff", b":", b";", b",", b"#", b"%00",
             b"%2e", b"%0d%0a", b"\\", b'"', b"0", b"\r\n ", b"\r\n\t"]
HUGE = [b"99999999999999999999", b"18446744073709551616", b"18446744073709551615", b"9223372036854775808", b"4294967296",
        b"33554433", b"2147483648", b"00000000000000000000000000000000000001"]


class Draft:
    """A request that is not written yet. `body` is the JSON; the framing is made when it is written."""

    def __init__(self, choose, marker):
        self.method, self.target, self.version = b"POST", CHAT, b"HTTP/1.1"
        self.line_end, self.before, self.after = b"\r\n", b"", b""
        self.body = body_of(choose, marker)
        self.fields = [[b"Host", HOST], [b"Content-Type", b"application/json"]]
        self.framing = "length"
        self.length = None  # a text in the place of the right number
        self.chunk = {"size": None, "extension": b"", "trailers": b"", "data_end": b"\r\n", "size_end": b"\r\n",
                      "last": b"0", "last_end": b"\r\n"}

    def set(self, name, value):
        self.fields = [field for field in self.fields if field[0].lower() != name.lower()] + [[name, value]]

    def add(self, choose, name, value):
        self.fields.insert(choose.randint(0, len(self.fields)), [name, value])

    def chunks(self, choose):
        chunk, out, at = self.chunk, b"", 0
        while at < len(self.body):
            piece = self.body[at:at + choose.choice([1, 7, 16, 31, 1000])]
            size = chunk["size"] or b"%x"
            out += size % len(piece) + chunk["extension"] + chunk["size_end"] + piece + chunk["data_end"]
            at += len(piece)
        return out + chunk["last"] + chunk["last_end"] + chunk["trailers"] + b"\r\n"

    def write(self, choose):
        fields = [tuple(field) for field in self.fields]
        if self.framing in ("length", "both"):
            fields.append((b"Content-Length", self.length or b"%d" % len(self.body)))
        if self.framing in ("chunked", "both"):
            fields.append((b"Transfer-Encoding", b"chunked"))
        if self.framing == "both":
            choose.shuffle(fields)
        lines = [b" ".join([self.method, self.target, self.version])]
        lines += [name + (b"" if b":" in name else b": ") + value for name, value in fields]
        head = b"".join(line + self.line_end for line in lines) + self.line_end
        body = self.chunks(choose) if self.framing in ("chunked", "both") else self.body
        return self.before + head + body + self.after


def body_of(choose, marker):
    text = f"{marker} " + choose.choice(["hello", "caf\\u00e9", "caf\u00e9", "a\\nb", "x" * choose.randint(1, 300), "\U0001f600"])
    extra = choose.choice(["", "", ',"temperature":0.5', ',"metadata":{"a":"b"}', ',"max_tokens":5', ',"stop":["\\r\\n\\r\\n"]',
                           ',"stream":true'])
    space = choose.choice(["", " ", "\n", "\r\n"])
    return f'{{"model":"m",{space}"messages":[{{"role":"user","content":"{text}"}}]{extra}}}{space}'.encode()


# -- variants that stay legal -----------------------------------------------------------------------------------------

def legal(choose, draft):
    kind = choose.choice(["plain", "chunked", "case", "space", "query", "fields", "http10", "connection", "expect", "absolute",
                          "extension", "trailers", "empty_lines", "zeros", "hosts", "high_bytes"])
    if kind in ("chunked", "extension", "trailers"):
        draft.framing = "chunked"
    if kind == "case":
        for field in draft.fields:
            field[0] = choose.choice([field[0].lower(), field[0].upper(), field[0].swapcase()])
    elif kind == "space":
        for field in draft.fields:
            field[0] += choose.choice([b":", b":\t", b":  "])
            field[1] += choose.choice([b"", b" ", b"\t", b" \t "])
    elif kind == "query":
        draft.target += choose.choice([b"?", b"?a=b", b"?a=%00", b"?beta=true", b"?/../..", b"?a?b", b"?http://other/"])
    elif kind == "fields":
        for _ in range(choose.randint(1, 20)):
            draft.add(choose, choose.choice([b"X-A", b"Accept", b"x_b", b"Cookie", b"X-Forwarded-For", b"TE", b"Via"]),
                      choose.choice([b"", b"1", b"a, b", b"x" * 500, b"trailers", b'"quoted"']))
    elif kind == "http10":
        draft.version = b"HTTP/1.0"
        if choose.random() < 0.5:
            draft.add(choose, b"Connection", b"keep-alive")
    elif kind == "connection":
        draft.add(choose, b"Connection", choose.choice(
            [b"close", b"keep-alive", b"Keep-Alive, X-A", b"close, content-length", b", ,close", b"host", b"te", b"", b"not-close",
             b"Transfer-Encoding", b"X-Close; close"]))
    elif kind == "expect":
        draft.add(choose, b"Expect", choose.choice([b"100-continue", b"100-Continue"]))
    elif kind == "absolute":
        draft.target = choose.choice([b"http://", b"HTTP://", b"https://"]) + HOST + draft.target
    elif kind == "extension":
        draft.chunk["extension"] = choose.choice([b";a", b";a=b", b';a="b"', b';a="b;c\\""', b";a;b=c"])
    elif kind == "trailers":
        draft.chunk["trailers"] = choose.choice([b"X-T: 1\r\n", b"Content-Length: 3\r\n", b"Host: other\r\nX: y\r\n",
                                                 b"Transfer-Encoding: chunked\r\n"])
    elif kind == "empty_lines":
        draft.before = b"\r\n" * choose.randint(1, 2)
    elif kind == "zeros":
        draft.framing = choose.choice(["length", "chunked"])
        draft.length, draft.chunk["size"], draft.chunk["last"] = b"000%d" % len(draft.body), b"000%X", b"000"
    elif kind == "hosts":
        draft.set(b"Host", choose.choice([b"a", b"a:80", b"[::1]", b"[::1]:4000", b"127.0.0.1:1", b"a:", b"A.b-c_d", b"x%41"]))
    elif kind == "high_bytes":
        draft.add(choose, b"X-Text", choose.choice([b"caf\xc3\xa9", b"\xff\xfe", b"a\tb"]))
    return kind


# -- one thing that is wrong, or that readers disagree about -----------------------------------------------------------

def odd_length(choose, draft):
    right = len(draft.body)
    draft.length = choose.choice([
        b"+%d" % right, b"-%d" % right, b"0x%x" % right, b"%d " % right, b"%d\t" % right, b"%d, %d" % (right, right),
        b"%d,0" % right, b"", b"%d.0" % right, b"%de0" % right, b"\x0b%d" % right, b"%d\0" % right, b"%d;" % right,
        b"%d" % (right - choose.randint(1, 5)), b"%d" % (right + choose.randint(1, 60)), b"0", b"1_0", choose.choice(HUGE),
        b"'%d'" % right, b"%d %d" % (right, right), b"\r\n %d" % right])


def more_lengths(choose, draft):
    right = len(draft.body)
    for _ in range(choose.randint(1, 2)):
        name = choose.choice([b"Content-Length", b"content-length", b"Content-Length ", b"Content_Length", b"Content-Length\t",
                              b"X-Content-Length", b" Content-Length", b"Content-Length\0", b"\xefContent-Length"])
        draft.add(choose, name, choose.choice([b"%d" % right, b"0", b"5", b"%d" % (right + 20), b"x"]))


def odd_coding(choose, draft):
    draft.framing = choose.choice(["none", "length"])
    name = choose.choice([b"Transfer-Encoding", b"transfer-encoding", b"Transfer-Encoding ", b"Transfer_Encoding",
                          b"Transfer-Encoding\t", b" Transfer-Encoding", b"Transfer-Encoding:", b"X-Transfer-Encoding"])
    value = choose.choice([b"chunked", b"Chunked", b"xchunked", b"chunked, chunked", b"gzip, chunked", b"chunked, gzip",
                           b"identity", b"chunked;q=1", b"\x0bchunked", b"chunked\x0b", b"chunked\0", b'"chunked"', b"chunke", b" chunked ", b"",
                           b"chunked,", b",chunked", b"\tchunked", b"identity, chunked", b"chunked identity", b"\r\n chunked"])
    if choose.random() < 0.2:
        draft.add(choose, b"Transfer-Encoding", choose.choice([b"identity", b"chunked", b""]))
    draft.add(choose, name, value)
    if choose.random() < 0.8:
        draft.body = Draft.chunks(draft, choose)


def odd_chunks(choose, draft):
    draft.framing = "chunked"
    key = choose.choice(list(draft.chunk))
    draft.chunk[key] = choose.choice({
        "size": [b"0x%x", b"+%x", b"-%x", b" %x", b"%x ", b"%x\t", b"\t%x", b"%xg", b"0" * 20 + b"%x", b"ffffffffffffffff%x",
                 b"%x,", b"1%x", b"%x_", b"%x\0", b"%x\x0b"],
        "extension": [b";", b"; a", b" ;a", b";a=", b';a="', b";a=\"\r\n\"", b";\0", b";a\n", b";a\r", b";" + b"a" * 300, b";a=b c",
                      b"\t;a", b";a;;b"],
        "trailers": [b"bad trailer\r\n", b": x\r\n", b"X: a\nb\r\n", b" folded\r\n", b"X: \0\r\n", b"X: 1\n", b"X:1\r\r\n",
                     b"POST / HTTP/1.1\r\n", b"X " * 5000 + b"\r\n"],
        "data_end": [b"", b"\n", b"\r", b"\r\n\r\n", b"x\r\n", b" \r\n", b"\n\r"],
        "size_end": [b"\n", b"\r", b"\r\r\n", b" \r\n", b"\n\r", b""],
        "last": [b"", b"00000", b"0x0", b"-0", b"0 ", b"+0", b"0;a", b"g"],
        "last_end": [b"\n", b"\r", b"", b"\r\n\r\n"],
    }[key])


def odd_first_line(choose, draft):
    kind = choose.choice(["method", "target", "version", "glue"])
    if kind == "method":
        draft.method = choose.choice([b"GET", b"HEAD", b"PUT", b"post", b"POST ", b" POST", b"PO\0ST", b"CONNECT", b"TRACE",
                                      b"OPTIONS", b"P" * 40, b"PO(ST", b"POST\t", b"PRI"])
    elif kind == "target":
        draft.target = choose.choice([
            b"//v1/chat/completions", b"/v1/../v1/chat/completions", b"/v1/%2e%2e/v1/chat/completions", b"/v1/./chat/completions",
            b"/v1/chat%2fcompletions", b"/v1/chat/completions/", b"/%76%31/chat/completions", CHAT + b"#x", CHAT + b" x", CHAT + b"\t",
            CHAT + b"\0", CHAT + b"\xff", b"*", b"http://other.test" + CHAT, b"http://" + HOST, b"http://u@" + HOST + CHAT,
            b"http://" + HOST + b":81" + CHAT, b"http:" + CHAT, b"ftp://" + HOST + CHAT, b"", b"v1/chat/completions",
            b"http:///v1/chat/completions", b"*" + CHAT, b"/v1\\chat\\completions", CHAT + b"%0d%0aX: y", CHAT + b";a=b",
            b"/V1/chat/completions", b"/metrics", b"/v1/../metrics", HOST + b":80"])
    elif kind == "version":
        draft.version = choose.choice([b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"http/1.1", b"HTTP/1.10", b"HTTP/1.1 ", b"HTTP/11", b"",
                                       b"HTTP/1.1x", b"HTTP 1.1", b"HTTP/1,1", b"ICY/1.1", b"HTTP/01.1"])
    else:
        draft.method = draft.method + choose.choice(SPACE_NAMES)


def odd_host(choose, draft):
    if choose.random() < 0.3:
        draft.add(choose, choose.choice([b"Host", b"host", b"Host "]), choose.choice([HOST, b"other.test", b""]))
    else:
        draft.set(b"Host", choose.choice([b"", b"a b", b"a/b", b"u@a", b"a:b", b"a:99999", b"[::1", b"a,b", b"a\0", b"a#b", b"http://a",
                                          b"a?b", b"\xff", b"a:80:80", b"-", b"a%zz"]))
        if choose.random() < 0.2:
            draft.fields = [field for field in draft.fields if field[0] != b"Host"]


def odd_field(choose, draft):
    name, value = choose.choice([
        (b"X-A ", b"1"), (b"X A", b"1"), (b"", b"1"), (b"X-A\0", b"1"), (b"X(A)", b"1"), (b"X-A", b"\0"), (b"X-A", b"1\r\n folded"),
        (b"X-A", b"1\r\n\tfolded"), (b"X-A", b"1\rX-B: 2"), (b"X-A", b"1\nX-B: 2"), (b"X-A", b"1\x7f"), (b"X-A", b"x" * 70000),
        (b"\xc3\xa9", b"1"), (b"X-A", b"1\r\n\r\nX"), (b"X-A\r\n", b""), (b" X-A", b"1"), (b"X-A", b"1\r\nnocolon"), (b"@", b"1"),
        (b"Content-Encoding", b"gzip"), (b"Content-Type", b"text/plain"), (b"Upgrade", b"h2c"), (b"X-A", b"1\x0b"), (b"X-A", b"\x08")])
    draft.add(choose, name, value)


def odd_count(choose, draft):
    for i in range(choose.choice([90, 120, 300])):
        draft.add(choose, b"X-%d" % i, b"1")


def odd_line_ends(choose, draft):
    draft.line_end = choose.choice([b"\n", b"\r", b"\r\r\n", b"\n\r", b" \r\n", b"\r\n\0"])


def odd_expect(choose, draft):
    draft.add(choose, b"Expect", choose.choice([b"200-ok", b"100-continue, x", b"", b"100", b"100-continue\0"]))


def odd_http10(choose, draft):
    draft.version = b"HTTP/1.0"
    draft.framing = choose.choice(["chunked", "both", "none", "length"])
    if choose.random() < 0.5:
        draft.fields = [field for field in draft.fields if field[0] != b"Host"]


def both_framings(choose, draft):
    draft.framing = "both"
    draft.length = choose.choice([None, b"0", b"5", b"%d" % len(draft.body), b"4"])


def no_framing(_choose, draft):
    draft.framing = "none"


def empty_lines(choose, draft):
    draft.before = choose.choice([b"\r\n" * 3, b"\n", b"\r", b" ", b"\0", b"\r\n\n", b"\xef\xbb\xbf"])


def bytes_after(choose, draft):
    draft.after = choose.choice([b"\r\n", b"\n", b"x", b"\0", b"0\r\n\r\n", b" ", b"GET / HTTP/0.9\r\n\r\n", b"\r\n\r\n\r\n"])


ODD = [odd_length, odd_length, more_lengths, odd_coding, odd_coding, odd_chunks, odd_chunks, odd_first_line, odd_first_line, odd_host,
       odd_field, odd_count, odd_line_ends, odd_expect, odd_http10, both_framings, no_framing, empty_lines, bytes_after]


# -- requests inside requests ------------------------------------------------------------------------------------------

def smuggle(choose, draft, hidden):
    """`hidden` stands where one reader sees a body and another one a request."""
    kind = choose.choice(["length_short", "zero_chunk", "after_chunks", "coding_odd", "trailer", "in_text", "no_length"])
    if kind == "length_short":
        draft.length, draft.after = b"%d" % len(draft.body), hidden
    elif kind == "zero_chunk":
        draft.framing, draft.body = "none", b"0\r\n\r\n" + hidden
        draft.add(choose, b"Transfer-Encoding", choose.choice([b"chunked", b"Chunked ", b"chunked\t", b"xchunked", b"\x0bchunked"]))
        draft.add(choose, b"Content-Length", b"%d" % len(draft.body))
    elif kind == "after_chunks":
        draft.framing, draft.after = "chunked", hidden
    elif kind == "coding_odd":
        draft.framing = "length"
        odd = choose.choice([b"Transfer-Encoding ", b"Transfer_Encoding", b"Transfer-Encoding\t", b"X\r\n Transfer-Encoding"])
        draft.add(choose, odd, b"chunked")
        draft.after = hidden
    elif kind == "trailer":
        draft.framing, draft.chunk["trailers"] = "chunked", b"X: y\r\n" + hidden
    elif kind == "in_text":
        draft.body = draft.body.replace(b'"}]', b" " + hidden.replace(b"\r\n", b"\\r\\n").replace(b'"', b'\\"') + b'"}]')
    else:
        draft.framing = "none"
        draft.body = choose.choice([hidden, draft.body + hidden])
    return "smuggle " + kind


def odd_bytes(choose, data):
    """A few bytes put in, taken out or changed; rather in the head, since a body's bytes frame nothing."""
    data = bytearray(data)
    head = data.find(b"\r\n\r\n") + 4
    for _ in range(choose.choice([1, 1, 1, 2, 4])):
        at = choose.randrange(head if head > 3 and choose.random() < 0.8 else len(data))
        kind = choose.random()
        if kind < 0.4:
            data[at:at] = choose.choice(ODD_BYTES)
        elif kind < 0.7:
            data[at] = choose.choice([choose.randrange(256), data[at] ^ (1 << choose.randrange(8))])
        elif kind < 0.9:
            del data[at:at + choose.choice([1, 1, 2, 8])]
        else:
            data[at:at] = data[at:at + choose.randint(1, 40)]
    return bytes(data)


def cut_of(seed, number, data):
    """Where some cases are cut into two sends; 0 for the others."""
    choose = random.Random(f"{seed}:{number}:cut")
    return choose.randrange(len(data)) if data and choose.random() < 0.1 else 0


def case(seed, number):
    """The bytes, and what was done to them."""
    choose = random.Random(f"{seed}:{number}")
    draft = Draft(choose, f"q{number}")
    notes = [legal(choose, draft) for _ in range(choose.choice([1, 1, 2, 3]))]
    level = choose.random()
    if level < 0.5:
        for _ in range(choose.choice([1, 1, 1, 2])):
            odd = choose.choice(ODD)
            odd(choose, draft)
            notes.append(odd.__name__)
    elif level < 0.62:
        hidden = Draft(choose, f"h{number}")
        notes.append(smuggle(choose, draft, hidden.write(choose)))
    data = draft.write(choose)
    if level > 0.62 and level < 0.75:
        notes.append("odd_bytes")
        data = odd_bytes(choose, data)
    elif level > 0.95:
        notes.append("pipelined")
        data += Draft(choose, f"p{number}").write(choose)
    return data, notes
