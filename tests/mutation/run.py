#!/usr/bin/env python3
"""run.py ACOG [--policy NAME]... [--sample N [--seed S]] [--jobs N] - does a test fail when a value of a policy is another?

Each of policies/NAME/NAME.lua is changed in one place at a time (mutants.lua says how) and run against the tests that stand
beside it. A mutant is killed when the load refuses it or a test fails; one that survives must be in equivalent.txt, with
the reason why nobody could tell it from the policy. A line there that names no survivor is a mistake too.

A whole run takes minutes and is started by hand after a policy has changed; CI takes a sample, another one each time.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
POLICIES = ["acog", "routerplus", "rolter", "kontinent", "onerouter"]
KILLED_MIN = 95  # percent of all mutants of a policy, the listed ones included
TEST_SECONDS_MAX = 120  # of one mutant; one that makes a test endless is killed
CONSTRUCTOR = "return acog.policy {"
LISTED = re.compile(r"(\w+) (.*?) \| (\S.*)")


def read_equivalent():
    """(policy, mutant) -> reason"""
    listed = {}
    for number, line in enumerate((HERE / "equivalent.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LISTED.fullmatch(line)
        if not match or (match[1], match[2]) in listed:
            sys.exit(f"equivalent.txt:{number}: not `POLICY MUTANT | REASON`, or there before: {line}")
        listed[match[1], match[2]] = match[3]
    return listed


def lua(value):
    """A path or a value as Lua writes it."""
    if isinstance(value, list):
        return "{ " + ", ".join(lua(item) for item in value) + " }"
    if isinstance(value, (bool, type(None))):
        return {True: "true", False: "false", None: "nil"}[value]
    if isinstance(value, str):
        return '"' + re.sub(r'[\\"\n]', lambda m: "\\n" if m[0] == "\n" else "\\" + m[0], value) + '"'
    return str(value)


class Policy:
    """A policy and its tests, copied to where they can be changed: FOLDER/policies/NAME, where the file is what is loaded
    (lua/test.md, "What a test finds"). Read once, so a policy that is edited meanwhile spoils no run."""

    def __init__(self, acog, name):
        self.acog = acog
        self.name = name
        self.files = {path.name: path.read_text() for path in (ROOT / "policies" / name).glob("*.lua")}
        self.files |= {file: (HERE / file).read_text() for file in ("mutants.lua", "list.lua")}
        self.tests = [file for file in self.files if file.endswith("_test.lua")]
        if self.files[f"{name}.lua"].count(CONSTRUCTOR) != 1:
            sys.exit(f"{name}.lua: has not one `{CONSTRUCTOR}`")

    def write(self, folder, path=None, new=None, swap=None):
        """The policy as it is, or a mutant; all lines stay where they are. Returns the folder that has its tests."""
        target = pathlib.Path(folder) / "policies" / self.name
        target.mkdir(parents=True)
        mutant = f'return require("mutants").policy({lua(path)}, {lua(new)}, {lua(swap)}) {{'
        for file, text in self.files.items():
            (target / file).write_text(text.replace(CONSTRUCTOR, mutant) if file == f"{self.name}.lua" else text)
        return target

    def test(self, *arguments):
        """What `acog test` said of failures; None: nothing failed."""
        try:
            done = subprocess.run([self.acog, "test", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False, timeout=TEST_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return f"not over after {TEST_SECONDS_MAX} seconds"
        if done.returncode == 0:
            return None
        if done.returncode < 0:  # a test that fails is a kill; a crash is a fault of acog
            raise SystemExit(f"acog test {arguments[-1]} ended with signal {-done.returncode}:\n{done.stdout[-3000:]}")
        return "\n".join(line for line in done.stdout.splitlines() if not line.startswith("  ok "))

    def mutants(self):
        """All of them, once each test file has passed on the policy as it is."""
        with tempfile.TemporaryDirectory() as folder:
            target = self.write(folder)
            self.tests.sort(key=lambda file: self.seconds_of(target / file))
            listing, report = target / "mutants_test.lua", target / "report.json"
            listing.write_text(f'require "list" "policies.{self.name}"\n')
            failed = self.test("--json", report, listing)
            if failed:
                sys.exit(failed)
            return json.loads(report.read_text())["tests"][0]["attached"]["mutants"]

    def seconds_of(self, file):
        started = time.monotonic()
        failed = self.test(file)
        if failed:
            sys.exit(failed)
        return time.monotonic() - started

    def survives(self, mutant):
        """The quickest tests first: most mutants need no other."""
        with tempfile.TemporaryDirectory() as folder:
            target = self.write(folder, mutant["path"], mutant.get("new"), mutant.get("swap"))
            return not any(self.test(target / file) for file in self.tests)


def run_policy(name, options, listed):
    """Prints what became of the mutants; the number of things that are wrong."""
    policy = Policy(options.acog, name)
    mutants = policy.mutants()
    names = {mutant["name"] for mutant in mutants}
    unknown = [mutant for of, mutant in listed if of == name and mutant not in names]
    if options.sample:
        mutants = options.random.sample(mutants, min(options.sample, len(mutants)))
    loaded = [mutant for mutant in mutants if "refused" not in mutant]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        alive = list(pool.map(policy.survives, loaded))
    survivors = {mutant["name"] for mutant, lives in zip(loaded, alive) if lives}
    equivalent = {mutant for mutant in survivors if (name, mutant) in listed}
    killed_listed = [m["name"] for m in mutants if (name, m["name"]) in listed and m["name"] not in survivors]
    killed = len(mutants) - len(survivors)
    print(f"{name}: {len(mutants)} mutants, {killed} killed ({len(mutants) - len(loaded)} refused at load), "
          f"{len(equivalent)} listed as equivalent, {len(survivors - equivalent)} survive: "
          f"{100 * killed / len(mutants):.1f} % of all, "
          f"{100 * killed / max(1, len(mutants) - len(equivalent)):.1f} % of those that are not equivalent")
    wrong = [f"survives: {m['name']}" for m in loaded if m["name"] in survivors - equivalent]
    wrong += [f"equivalent.txt lists it, and it is killed: {mutant}" for mutant in killed_listed]
    wrong += [f"equivalent.txt lists it, and there is no such mutant: {mutant}" for mutant in unknown]
    if not options.sample and 100 * killed < KILLED_MIN * len(mutants):
        wrong.append(f"less than {KILLED_MIN} % of all are killed")
    for line in wrong:
        print(f"  {name} {line}")
    sys.stdout.flush()
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("acog")
    parser.add_argument("--policy", action="append", choices=POLICIES)
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants of each policy")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.random = random.Random(options.seed)
    if options.sample:
        print(f"a sample of {options.sample} a policy, --seed {options.seed}")
    listed = read_equivalent()
    wrong = sum(run_policy(name, options, listed) for name in options.policy or POLICIES)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
