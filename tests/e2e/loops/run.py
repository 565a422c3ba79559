#!/usr/bin/env python3
"""Tool loops through the official SDKs: a strict provider of four dialects (stub.py), a gateway in front of it, and the
loops of one language.

    run.py ACOG BUILD_FOLDER python|node
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "support"), os.path.join(HERE, "..")]
from run import fill, install_node, install_python  # noqa: E402
from running import Running  # noqa: E402
from stub import Stub  # noqa: E402

KEY = {"ACOG_TEST_KEY": "sk-upstream-secret-0123456789"}


def main():
    acog, build, language = sys.argv[1:]
    sdks = os.path.join(build, "e2e", language)
    folder = os.path.join(build, "e2e", f"loops_{language}")
    for one in (sdks, folder):
        os.makedirs(one, exist_ok=True)
    if language == "python":
        command = [install_python(sdks), os.path.join(HERE, "loops_test.py")]
    else:
        command = ["node", "--test", *install_node(sdks, HERE, ("loops_test.mjs", "surfaces.mjs", "story.json"))]
    log = os.path.join(folder, "gateway.log")
    with Stub() as stub, open(log, "wb") as output:
        configuration = fill("loops/gateway.lua.in", folder, STUB=stub.address)
        with Running(acog, configuration, KEY, log=output) as gateway:
            environment = {**os.environ, "ACOG_URL": f"http://{gateway.listen}", "ACOG_STUB": f"http://{stub.address}",
                           "PYTHONDONTWRITEBYTECODE": "1"}
            code = subprocess.run(command, cwd=folder if language == "python" else sdks, env=environment, check=False,
                                  timeout=300).returncode
    with open(log, encoding="utf-8") as file:
        if KEY["ACOG_TEST_KEY"] in file.read():
            sys.exit(f"{log} holds a key")
    sys.exit(code)


if __name__ == "__main__":
    main()
