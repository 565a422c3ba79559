"""newcomer_test.py ACOG - the first hour with acog: what README.md shows works as it is printed there, and so does each
command that examples/quickstart.sh prints."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
from running import Running  # noqa: E402


POLICIES = sorted(entry.name for entry in os.scandir(os.path.join(SOURCE, "policies")) if entry.is_dir())


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{command}: exit {done.returncode}:\n{done.stdout}"
    return done.stdout


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def readme(acog):
    """The configuration, the policy and the test."""
    files = re.findall(r"^```lua\n(.*?)^```$", read("README.md"), re.S | re.M)
    names = ["gateway.lua", "acme.lua", "acme_test.lua"]
    assert len(files) == len(names), f"README.md shows {len(files)} Lua files"
    with tempfile.TemporaryDirectory(prefix="acog-readme-") as folder:
        for name, text in zip(names, files):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        assert "ok (2 connections" in run([acog, "check", "gateway.lua"], cwd=folder)
        assert "1 passed, 0 failed" in run([acog, "test", "."], cwd=folder)
        assert "kept" in run([acog, "explain", "gateway.lua", "--model", "claude-haiku-4-5"], cwd=folder)
        own = files[0].replace('"policies.acog"', '"acme"')
        with open(os.path.join(folder, "gateway.lua"), "w", encoding="utf-8") as file:
            file.write(own)
        assert "policy acme" in run([acog, "check", "gateway.lua"], cwd=folder)


def policy_pages(acog):
    """What the pages of the policies show: a configuration's fields, or a policy of one's own."""
    own = 'return require("acog").gateway { policy = require "own", connections = {' \
          ' require("acog").connection "a" { simulate = true, models = { "m" } } } }'
    for name in POLICIES:
        for text in re.findall(r"^```lua\n(.*?)^```$", read(f"policies/{name}/README.md"), re.S | re.M):
            fields = text.startswith("policy = ")
            with tempfile.TemporaryDirectory(prefix="acog-page-") as folder:
                files = {"own.lua": text, "gateway.lua": own}
                if fields:
                    files = {"gateway.lua": f'local acog = require "acog"\nreturn acog.gateway {{\n{text}}}\n'}
                for file_name, content in files.items():
                    with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
                        file.write(content)
                assert ": ok (" in run([acog, "check", "gateway.lua"], cwd=folder)


def wishes():
    """What is often wanted of a policy stands in a test to the letter, white space aside."""
    rows = re.findall(r"\| `(\w+ = .*)` \|$", read("policies/README.md"), re.M)
    tested = re.sub(r"\s+", " ", read("tests/lua/wishes_test.lua"))
    assert len(rows) == 12 and all(row in tested for row in rows), [row for row in rows if row not in tested]


# A part of each printed command, and what its output must hold.
SHOWN = [
    ('"model":"gpt-5-mini","messages"', ["HTTP/1.1 200", "x-acog-connection: openai", "simulated GPT"]),
    ('"model":"gpt-5-mini","stream":true', ['"content":"Hello!"', "data: [DONE]"]),
    ("/v1/messages", ["event: message_start", '"claude-haiku-4-5', "event: message_stop"]),
    ('"top_k":5', ["HTTP/1.1 200", "x-acog-dropped-params: top_k", '"type":"message"', "simulated GPT"]),
    ("failover-demo\",", ["HTTP/1.1 200", "x-acog-connection: steady", "x-acog-attempts: 2"]),
    ("/v1/models", ['"id":"claude-haiku-4-5@20251001"', '"id":"failover-demo"']),
    ("/status.json", ['"state": "serving"', '"custom/@flaky"']),
    (" explain ", ["flaky", "steady", "kept"]),
    (" test ", ["4 passed, 0 failed"]),
]


def quickstart(acog):
    """Each command that the quick start prints, against its configuration on ports of our own."""
    script = read("examples/quickstart.sh")
    printed = script[script.index("cat <<EOF"):]
    commands = re.findall(r"^  ((?:curl|\$root).*)$", printed, re.M)
    assert len(commands) == len(SHOWN), commands
    with open(os.devnull, "w") as nowhere, \
            Running(acog, os.path.join(SOURCE, "examples", "quickstart", "gateway.lua"), log=nowhere,
                    options=["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]) as gateway:
        for command, (part, wanted) in zip(commands, SHOWN):
            assert part in command, f"{part} is not in {command}"
            command = command.replace("127.0.0.1:4000", gateway.listen).replace("127.0.0.1:4001", gateway.admin)
            command = command.replace("$root/$acog", acog).replace("$root", SOURCE)
            output = run(["sh", "-c", command])
            for text in wanted:
                assert text in output, f"{command}: no {text} in\n{output}"


def help_of_commands(acog):
    for command in ["serve", "check", "test", "explain"]:
        assert f"acog {command}" in run([acog, command, "--help"])


if __name__ == "__main__":
    help_of_commands(sys.argv[1])
    readme(sys.argv[1])
    policy_pages(sys.argv[1])
    wishes()
    quickstart(sys.argv[1])
    print("newcomer: ok")
