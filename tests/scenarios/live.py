"""live.py ACOG: plays every story of stories.lua over real sockets and compares with the simulator.

The simulator's replies come from `acog test --json` (stories_test.lua attaches them). For the live run one acog plays all
providers, and each story has a gateway of its own before it, with the same policy; times are a hundredth. What a client
sees must be the same: statuses, all headers but those named below, whole bodies, and how they ended. Ids and dates, which
are made anew in each run, are blanked out.
"""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from running import Running  # noqa: E402

FASTER = 100
# Of the connection and its framing, not of the answer; or made anew in each run.
NOT_COMPARED = {"date", "connection", "keep-alive", "transfer-encoding", "content-length", "x-tm-route-plan-id",
                "x-onerouter-receipt"}
MADE_ANEW = re.compile(r'"(id|created|created_at|request_id|item_id|signature)":("[^"]*"|\d+)')


def lua(value):
    """A JSON value as Lua writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{lua(key)}] = {lua(field)}" for key, field in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(lua, value)) + "}"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() else "".join(f"\\x{byte:02x}" for byte in c.encode()) for c in value) + '"'
    return {True: "true", False: "false", None: "nil"}[value] if value is None or isinstance(value, bool) else repr(value)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def closed_port():
    """One that nobody listens on; the socket keeps others from it."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def blank(body):
    """A body without what is made anew."""
    return MADE_ANEW.sub(r'"\1":"*"', body)


def comparable(reply):
    headers = {name: value for name, value in reply["header"].items() if name not in NOT_COMPARED}
    return {"status": reply.get("status"), "header": headers, "body": blank(reply["body"]), "complete": reply["complete"]}


def post(address, request, request_id):
    """As the simulator's client sees it."""
    connection = http.client.HTTPConnection(address, timeout=10)
    body = json.dumps(request["body"], sort_keys=True, separators=(",", ":"))
    connection.request("POST", request["path"], body,
                       {"content-type": "application/json", "x-request-id": request_id})
    answer = connection.getresponse()
    complete = True
    pieces = []
    try:
        while piece := answer.read1(65536):
            pieces.append(piece)
    except (http.client.IncompleteRead, ConnectionError) as cut:
        complete = False
        pieces.append(getattr(cut, "partial", b""))
    connection.close()
    return {"status": answer.status, "header": {name.lower(): value for name, value in answer.getheaders()},
            "body": b"".join(pieces).decode(), "complete": complete}


def play(acog, folder, provider, nobody, told):
    """Why a story went otherwise than in the simulator, or None."""
    story, policy = told["story"], told["policy"]
    addresses = {}
    for connection in story["connections"]:
        plays = connection.get("plays", {})
        refuses = isinstance(plays, dict) and plays.get("reset") == "connect"
        addresses[connection["id"]] = f"http://127.0.0.1:{nobody}/v1" if refuses else f"http://{provider}/v1"
    path = write(folder, f"{story['key']}.lua", f"""local scenarios = require "scenarios"
return scenarios.live({lua(policy)}, {lua(story)}, {lua(addresses)}, {FASTER})
""")
    with Running(acog, path, log=subprocess.DEVNULL) as gateway:
        for number, request in enumerate(story["requests"], 1):
            time.sleep(request.get("after", 0) / FASTER)
            try:
                live = comparable(post(gateway.listen, request, f"{story['key']}-{number}"))
            except OSError as problem:
                return f"{policy}: {story['name']}: request {number}: {problem}"
            simulated = comparable(told["replies"][number - 1])
            if live != simulated:
                return (f"{policy}: {story['name']}: request {number}\n  simulated {json.dumps(simulated)}\n"
                        f"  live      {json.dumps(live)}")
    return None


def simulated_stories(acog, folder):
    report = os.path.join(folder, "report.json")
    subprocess.run([acog, "test", "--json", report, HERE], check=True, stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as file:
        return [test["attached"] for test in json.load(file)["tests"]]


def main(acog):
    with tempfile.TemporaryDirectory(prefix="acog-scenarios-") as folder:
        shutil.copy(os.path.join(HERE, "scenarios.lua"), folder)
        told = simulated_stories(acog, folder)
        path = write(folder, "provider.lua", f"""local scenarios = require "scenarios"
return scenarios.provider({lua([one["story"] for one in told])}, {FASTER})
""")
        holder, nobody = closed_port()
        with Running(acog, path, log=subprocess.DEVNULL) as provider, ThreadPoolExecutor(4) as pool, holder:
            problems = [problem for problem in pool.map(
                lambda one: play(acog, folder, provider.listen, nobody, one), told) if problem]
        print("\n".join(problems))
        print(f"{len(told)} stories, {len(told) - len(problems)} the same in the simulator and over sockets")
        return 1 if problems else 0


sys.exit(main(sys.argv[1]))
