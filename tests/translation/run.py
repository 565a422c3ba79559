#!/usr/bin/env python3
"""Runs one test of translation with the packages that it needs (requirements.txt, in the build folder's own venv).

    run.py TRANSLATE BUILD_FOLDER NAME      NAME_test.py beside this file; ends with 77 (skipped) without ACOG_CORPUS
"""
import fcntl
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def environment(folder):
    """The venv's python; made once, by whichever test comes first."""
    os.makedirs(folder, exist_ok=True)
    venv = os.path.join(folder, "venv")
    wanted = os.path.join(HERE, "requirements.txt")
    stamp = os.path.join(venv, "installed.txt")
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != open(wanted, encoding="utf-8").read():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([f"{venv}/bin/pip", "install", "--quiet", "-r", wanted], check=True)
            shutil.copy(wanted, stamp)
    return f"{venv}/bin/python"


def main():
    translate, build, name = sys.argv[1:]
    if "ACOG_CORPUS" not in os.environ:
        print("skipped: ACOG_CORPUS does not name the folder of the captured data")
        sys.exit(77)
    python = environment(os.path.join(build, "translation"))
    os.execv(python, [python, os.path.join(HERE, name + "_test.py"), translate, build])


if __name__ == "__main__":
    main()
