#!/usr/bin/env python3
"""Installs the official SDKs, starts a provider and a gateway in front of it, and runs the SDK tests.

    run.py ACOG BUILD_FOLDER python|node
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from running import Running  # noqa: E402


def fill(template, folder, **values):
    with open(os.path.join(HERE, template), encoding="utf-8") as file:
        text = file.read()
    for name, value in values.items():
        text = text.replace("@" + name + "@", value)
    path = os.path.join(folder, os.path.basename(template).removesuffix(".in"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def install_python(folder):
    """Returns the interpreter that has the SDKs."""
    venv = os.path.join(folder, "venv")
    wanted = os.path.join(HERE, "requirements.txt")
    stamp = os.path.join(venv, "installed.txt")
    if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != open(wanted, encoding="utf-8").read():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([f"{venv}/bin/pip", "install", "--quiet", "-r", wanted], check=True)
        shutil.copy(wanted, stamp)
    return f"{venv}/bin/python"


def install_node(folder, source, names):
    """Copies the scripts to where Node finds the SDKs. Returns those that hold tests."""
    shutil.copy(os.path.join(HERE, "package.json"), folder)
    for name in names:
        shutil.copy(os.path.join(source, name), folder)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)
    return [name for name in names if name.endswith("_test.mjs")]


def main():
    acog, build, language = sys.argv[1:]
    folder = os.path.join(build, "e2e", language)
    os.makedirs(folder, exist_ok=True)
    if language == "python":
        command = [install_python(folder), os.path.join(HERE, "sdk_test.py")]
    else:
        command = ["node", "--test", *install_node(folder, HERE, ("sdk_test.mjs",))]
    key = {"ACOG_TEST_KEY": "sk-upstream-secret-0123456789"}
    logs = [open(os.path.join(folder, name), "wb") for name in ("provider.log", "gateway.log")]
    with Running(acog, fill("provider.lua.in", folder), log=logs[0]) as provider:
        configuration = fill("gateway.lua.in", folder, PROVIDER=provider.listen)
        with Running(acog, configuration, key, log=logs[1]) as gateway:
            environment = {**os.environ, "ACOG_URL": f"http://{gateway.listen}",
                           "ACOG_PROVIDER_ADMIN": f"http://{provider.admin}"}
            code = subprocess.run(command, cwd=folder, env=environment, check=False, timeout=300).returncode
    for log in logs:
        log.close()
        with open(log.name, encoding="utf-8") as file:
            if key["ACOG_TEST_KEY"] in file.read():
                sys.exit(f"{log.name} holds a key")
    sys.exit(code)


if __name__ == "__main__":
    main()
