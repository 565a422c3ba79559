#!/usr/bin/env python3
"""run.py ACOG - which line of CONFORMANCE is cited by how many tests, and that none is without.

A citation is a line's id (S2.14; S0.37-S0.45 is each of them) in a test's name, in the comment directly above the test, or
in a comment inside it. It counts when `acog test` reports the test as run and passed, with every row of its cases.
lines.txt lists the lines; one that waits for what is not built yet may be without a citation.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATHS = ["policies", "tests/lua", "tests/scenarios", "examples"]
ID = re.compile(r"\bS([0-4])\.(\d+)([a-d]?)(?:-(?:S\1\.(\d+)|([a-d]))\b)?")
LINE = re.compile(r"(S[0-4]\.\d+[a-d]?)(?: waits: (\S.*))?")
TEST = re.compile(r'^test\(\s*"((?:\\.|[^"\\])*)"', re.MULTILINE)
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\[\[.*?\]\]|--[^\n]*', re.DOTALL)
ABOVE = re.compile(r"(?:^--[^\n]*\n)+\Z", re.MULTILINE)
COLUMNS = 8


def read_lines():
    """Id -> what it waits for, or None; in the order of the list."""
    lines = {}
    for text in (ROOT / "tests/citations/lines.txt").read_text().splitlines():
        if text.startswith("#"):
            continue
        match = LINE.fullmatch(text)
        if not match or match[1] in lines:
            sys.exit(f"lines.txt: not an id, or one that was there before: {text}")
        lines[match[1]] = match[2]
    return lines


def ids_in(text):
    ids = set()
    for system, number, letter, last, last_letter in ID.findall(text):
        if last_letter and letter:
            ids.update(f"S{system}.{number}{chr(c)}" for c in range(ord(letter), ord(last_letter) + 1))
        elif last and not letter:
            ids.update(f"S{system}.{n}" for n in range(int(number), int(last) + 1))
        else:
            ids.add(f"S{system}.{number}{letter}")
    return ids


def comments_in(code):
    return " ".join(m[0] for m in STRING_OR_COMMENT.finditer(code) if m[0].startswith("--"))


def commented_ids(source):
    """Test name -> ids in the comments above and inside it. A test begins and ends at the start of a line."""
    cited = collections.defaultdict(set)
    for match in TEST.finditer(source):
        name = re.sub(r"\\(.)", r"\1", match[1])
        above = ABOVE.search(source[: match.start()])
        end = re.compile(r"^end\b", re.MULTILINE).search(source, match.end())
        code = source[match.start() : end.start()] if end else match[0]
        cited[name] |= ids_in((above[0] if above else "") + comments_in(code))
    return cited


def run_tests(acog):
    """The results of every test in Lua, in the order in which they ran."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([acog, "test", "--json", report, *PATHS], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode not in (0, 1):  # 1: one has failed, and cites nothing
            sys.exit(done.stdout)
        return json.loads(report.read_text())["tests"]


def count_citations(results):
    """Id -> the tests that cite it and passed, as (file, name)."""
    sources = {file: commented_ids((ROOT / file).read_text()) for file in {result["file"] for result in results}}
    outcomes = collections.defaultdict(list)
    for result in results:
        file, name = result["file"], result["name"]
        outcomes[file, owner(name, sources[file])].append((name, result["outcome"] == "passed"))
    citing = collections.defaultdict(set)
    for (file, test), rows in outcomes.items():
        if all(passed for _, passed in rows):
            for line in sources[file].get(test, set()).union(*(ids_in(name) for name, _ in rows)):
                citing[line].add((file, test))
    return citing


def owner(name, tests):
    """The test that a row of cases belongs to, which counts as one; else the name itself."""
    return name if name in tests else next((test for test in tests if name.startswith(test + ": ")), name)


def main():
    lines = read_lines()
    citing = count_citations(run_tests(sys.argv[1]))
    cells = [f"{line:<7}{len(citing[line]):>3}{'w' if waits else ' '}" for line, waits in lines.items()]
    for at in range(0, len(cells), COLUMNS):
        print("  ".join(cells[at : at + COLUMNS]).rstrip())
    for line, waits in lines.items():
        if waits:
            print(f"{line} waits: {waits}")
    missing = [line for line, waits in lines.items() if not waits and not citing[line]]
    waiting = sum(1 for waits in lines.values() if waits)
    print(f"{len(lines)} lines, {waiting} of them wait; without a test that cites it: {', '.join(missing) or 'none'}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
