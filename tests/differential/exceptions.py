"""Where HAProxy or nginx reads otherwise than the gateway, and why the gateway is right. Reviewed row by row.

A row: who, how ("refuses" what the gateway serves, or "frames" it otherwise), a pattern that the sent bytes must have,
a test of the outcome, and the reason. A difference without a row is a finding.
"""
import re
from typing import Callable, NamedTuple


class Row(NamedTuple):
    who: str
    how: str
    pattern: bytes
    outcome: Callable
    reason: str


def answered(*statuses):
    """The last answer is one of these, or was lost: nginx resets a connection on which more comes after its refusal."""
    return lambda outcome: outcome.end == "closed" and (not outcome.statuses or outcome.statuses[-1] in statuses)


def served_and_closed(outcome):
    return outcome.end == "closed" and outcome.statuses[-1:] == [200]


ROWS = [
    Row("nginx", "refuses", rb"(?im)^(?:host|content-length|transfer-encoding|expect):[^\r\n]*\t", answered(400, 501),
        "RFC 9110 section 5.6.3: white space around a value may be a tab; nginx takes spaces only"),
    Row("nginx", "refuses", rb"(?im)^connection:[^\r\n]*close", served_and_closed,
        "RFC 9110 section 7.6.1: Connection is a list of options, and \"not-close\" is not \"close\"; nginx looks for the"
        " letters anywhere and does not read the next request"),
    Row("nginx", "refuses", rb"(?im)^host:[^\r\n]*\.\.", answered(400),
        "RFC 3986 section 3.2.2: a name may have two dots in a row; Host chooses nothing here"),
    Row("haproxy", "refuses", rb"(?i)\r\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding):", answered(400),
        "RFC 9110 section 6.5.1: trailers are ignored, and none is ever passed on; HAProxy judges lengths and codings in them"),
]


def reason(who, how, data, outcome):
    for row in ROWS:
        if (row.who, row.how) == (who, how) and re.search(row.pattern, data) and row.outcome(outcome):
            return row.reason
    return None
