"""Starts the gateway, HAProxy and nginx of all lanes, each lane with recorders of its own."""
import asyncio
import os
import shutil
import subprocess
import sys
import time

from recorder import Proxy, Recorder

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("gateway", "haproxy", "nginx")


def missing():
    return [name for name in ("haproxy", "nginx") if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]


def fill(name, values):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        text = file.read()
    for word, value in values.items():
        text = text.replace(f"@{word}@", str(value))
    return text


class Peers:
    def __init__(self, acog, folder, lanes):
        self.acog, self.folder, self.lanes, self.processes = acog, folder, lanes, []

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def socket(self, name, lane):
        return os.path.join(self.folder, f"{name}{lane}.sock")

    def launch(self, name, *command):
        log = open(os.path.join(self.folder, f"{name}.log"), "wb")
        environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
        self.processes.append((name, subprocess.Popen(command, stdout=log, stderr=log, env=environment)))

    async def start(self):
        """The proxies of each lane, by name."""
        recorders = [{name: Recorder() for name in NAMES} for _ in range(self.lanes)]
        for lane in recorders:
            for recorder in lane.values():
                await recorder.start()
        for lane, own in enumerate(recorders):
            configuration = self.write(f"gateway{lane}.lua", fill("gateway.lua.in", {"BACKEND": own["gateway"].port}))
            self.launch(f"gateway{lane}", self.acog, "serve", configuration, "--listen", f"unix:{self.socket('gateway', lane)}")
        self.launch("haproxy", "haproxy", "-f", self.write("haproxy.cfg", self.lanes_of("haproxy.cfg.in", "haproxy_lane.in", recorders)))
        self.launch("nginx", "nginx", "-p", self.folder, "-c",
                    self.write("nginx.conf", self.lanes_of("nginx.conf.in", "nginx_lane.in", recorders)))
        for lane in range(self.lanes):
            for name in NAMES:
                await self.wait_for(self.socket(name, lane))
        return [{name: Proxy(self.socket(name, lane), own[name]) for name in NAMES} for lane, own in enumerate(recorders)]

    def lanes_of(self, whole, part, recorders):
        parts = []
        for lane, own in enumerate(recorders):
            values = {"LANE": lane, "FOLDER": self.folder, "BACKEND": own[part.split("_")[0]].port}
            parts.append(fill(part, values))
        return fill(whole, {"FOLDER": self.folder, "LANES": "\n".join(parts)})

    async def wait_for(self, path, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            try:
                _, writer = await asyncio.open_unix_connection(path)
                writer.close()
                return
            except OSError:
                self.check()
                if time.monotonic() > deadline:
                    sys.exit(f"nobody listens on {path}")
                await asyncio.sleep(0.05)

    def check(self):
        """All of them must still run."""
        for name, process in self.processes:
            if process.poll() is not None:
                with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8", errors="replace") as file:
                    sys.exit(f"{name} ended with {process.returncode}:\n{file.read()[-4000:]}")

    def stop(self):
        """The gateways must end well: a sanitizer's finding is an exit code."""
        for _, process in self.processes:
            process.terminate()
        codes = [(name, process.wait(60)) for name, process in self.processes]
        return [f"{name} ended with {code}" for name, code in codes if name.startswith("gateway") and code != 0]
