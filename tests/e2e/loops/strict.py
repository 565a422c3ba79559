"""How the stub's dialects read a request: each member must be known and of its type, else the fault is named as a
provider would name it."""
import json


class Wrong(Exception):
    """A request that the provider refuses. `where`: the member at fault."""

    def __init__(self, where, what):
        super().__init__(f"{where}: {what}")
        self.where = where


class Down(Exception):
    """The provider cannot serve now."""


class Asked:
    """A request as all dialects mean it: what the story needs to know where it stands, and to check its history."""

    def __init__(self, dialect, body):
        self.dialect, self.body = dialect, body
        self.stream = False
        self.system = []      # texts
        self.said = []        # in order: ("user", text) ("picture", base64) ("call", id, name, arguments)
        #                       ("result", id, text, is_error) ("assistant", text)
        self.thinking = False
        self.opaque = []      # that came back, in order
        self.tools = {}       # name: schema
        self.forced = None    # the one tool that must be called
        self.schema = None    # of the answer
        self.limit = None     # of the answer's tokens
        self.usage = True     # a stream's usage is asked for


class Reply:
    """What the provider answers. `calls`: [(name, arguments)]; `number`: of the turn, for ids and opaque bytes.

    `finish`: stop, calls, limit, filter. `breaks`: an error comes in the middle of the stream."""

    def __init__(self, usage, finish="stop", text="", reasoning="", calls=(), number=0, refusal="", breaks=False):
        self.usage, self.finish, self.text, self.reasoning = usage, finish, text, reasoning
        self.calls, self.number, self.refusal, self.breaks = list(calls), number, refusal, breaks


def members(where, value, required, optional=()):
    """The object's members, which are exactly these."""
    expect(where, value, dict)
    for name in value:
        if name not in required and name not in optional:
            raise Wrong(f"{where}.{name}".lstrip("."), "extra inputs are not permitted")
    for name in required:
        if name not in value:
            raise Wrong(f"{where}.{name}".lstrip("."), "field required")
    return value


def expect(where, value, *types):
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise Wrong(where, f"expected {' or '.join(one.__name__ for one in types)}, got {json.dumps(value)[:60]}")
    return value


def text(where, value):
    """A text that says something."""
    if not expect(where, value, str).strip():
        raise Wrong(where, "text must be non-empty")
    return value


def one_of(where, value, *allowed):
    if value not in allowed:
        raise Wrong(where, f"must be one of {', '.join(map(str, allowed))}, not {json.dumps(value)[:60]}")
    return value


def number(where, value, low, high=None):
    if expect(where, value, int) < low or (high is not None and value > high):
        raise Wrong(where, f"{value} is out of range")
    return value


def json_object(where, value):
    """The object that a JSON text is."""
    try:
        found = json.loads(expect(where, value, str))
    except ValueError as error:
        raise Wrong(where, f"is no JSON: {error}") from error
    return expect(where, found, dict)


def data_url(where, value):
    """The base64 of an image that is its own address."""
    head, comma, data = expect(where, value, str).partition(",")
    if not comma or head != "data:image/png;base64":
        raise Wrong(where, f"is no image: {value[:40]}")
    return data


def same(where, found, given):
    """What the provider gave comes back as it was."""
    if found != given:
        raise Wrong(where, f"was modified: {json.dumps(found)[:200]} is not {json.dumps(given)[:200]}")


def spelled(calls, data):
    """The JSON text of an answer in which the arguments, texts in `data`, stand as the objects that they spell."""
    body = json.dumps(data, ensure_ascii=False)
    for _, arguments in calls:
        body = body.replace(json.dumps(arguments, ensure_ascii=False), arguments, 1)
    return body


def pieces(value, size=7):
    return [value[at:at + size] for at in range(0, len(value), size)]


def event(data, name=None, end="\n"):
    head = f"event: {name}{end}" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}{end}{end}"
