"""One decision record in four places (D16, S0.78-S0.83, S1.22, S3.17): explain, /v1/route, a receipt on both listeners."""
import http.client
import json
import subprocess
import sys
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from running import Client, Running, configuration  # noqa: E402

GATEWAY = """
local acog = require "acog"
return acog.gateway { listen = "127.0.0.1:0", admin = "127.0.0.1:0", workers = 2, limits = { records = 3 },
  policy = (require "policies.acog"):with { backoff = { kind = "none" } },
  connections = {
    acog.connection "down" { dialects = "chat", models = { "m" }, simulate = { status = 503 } },
    acog.connection "up" { dialects = "chat", models = { "m" }, simulate = { text = "SECRET ANSWER" } },
  } }
"""
BODY = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "SECRET PROMPT"}]}


def get(address, path, host=None, method="GET", body=None):
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, body, {"Host": host} if host else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def candidates(record):
    return [(row["connection"], row["verdict"]) for row in record["candidates"]]


def main(acog):
    path = configuration(GATEWAY)
    explained = json.loads(subprocess.run([acog, "explain", path, "--model", "m", "--json"], capture_output=True,
                                          text=True, check=True).stdout)
    with Running(acog, path) as running:
        client = Client(running.listen)
        status, planned = get(running.listen, "/v1/route", method="POST", body=json.dumps(BODY))
        planned = json.loads(planned)
        check(status == 200, f"/v1/route: {status}")
        check(candidates(planned) == candidates(explained), "explain and /v1/route plan alike")
        check(client.post("/v1/route", BODY)[0] == 404, "/v1/route is not for a page of a browser")
        check(planned["attempts"] == [], "a plan is not dispatched")
        status, headers, _ = client.post("/v1/chat/completions", BODY)
        check(status == 200, f"the request: {status}")
        one = headers["x-request-id"]
        status, text = get(running.listen, f"/v1/generation?id={one}")
        check(status == 200, f"/v1/generation: {status}")
        record = json.loads(text)
        check(get(running.listen, f"/v1/receipts/{one}") == (200, text), "both paths, one record")
        check(get(running.admin, f"/v1/receipts/{one}") == (200, text), "the admin listener has it")
        check(get(running.admin, f"/v1/generation?id={one}") == (200, text), "under both paths")
        check("SECRET" not in text, "S0.83: no prompt, no answer")
        check(set(record) >= {"request_id", "admission_events", "attempts"}, "S0.79")
        check(candidates(record) == [("down", "tried"), ("up", "tried")], f"S3.17: {candidates(record)}")
        first, second = record["attempts"]
        check((first["attempt"], first["outcome"], first["error_code"]) == (1, "failed", "server_error"), f"S0.80: {first}")
        check((second["outcome"], second["usage_provenance"]) == ("completed", "observed"), f"S0.80: {second}")
        check(second["dispatched_at"].endswith("Z") and len(second["dispatched_at"]) == 24, "S0.80: RFC 3339, milliseconds")
        check(record["answered_by"] == 2 and record["committed"] and record["first_output_ms"] >= 0, "S3.17: TTFT")
        check(record["fallback_reason"] != "", "S1.22")
        check(get(running.listen, f"/v1/receipts/{one}", "evil.test")[0] == 404, "not for a page of a browser")
        check(get(running.admin, f"/v1/receipts/{one}", "evil.test")[0] == 403, "nor on the admin listener")
        check(get(running.listen, "/v1/generation?id=never")[0] == 404, "an id that was never given")
        _, headers, _ = client.post("/v1/chat/completions", {**BODY, "model": "unknown"})
        refused = json.loads(get(running.listen, f"/v1/receipts/{headers['x-request-id']}")[1])
        check(refused["attempts"] == [] and len(refused["admission_events"]) == 1, f"S0.82: {refused}")
        for _ in range(3):
            client.post("/v1/chat/completions", BODY)
        check(get(running.admin, f"/v1/receipts/{one}")[0] == 404, "the oldest record has gone")
        client.close()


main(sys.argv[1])
