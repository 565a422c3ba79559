#!/usr/bin/env python3
"""The bench: acog beside nginx, HAProxy and a direct arm, interleaved, with a stub provider of its own process.

    bench.py --build DIR [--rounds N] [--seconds S] [--only NAME,...]

The gateway under test has one worker on the last processor; the stub and the load generator share the first. Each
round runs every arm of a workload in turn (A B C A B C), and the table shows medians with the spread, and the ratio
to nginx in the same run. Read ratios, not absolute figures: see "How to read it" in README.md beside this file.
"""
import argparse
import json
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on {port}")


def fill(template, target, **values):
    with open(os.path.join(HERE, template), encoding="utf-8") as file:
        text = file.read()
    for name, value in values.items():
        text = text.replace("@" + name + "@", str(value))
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return target


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


class Arm:
    """One gateway: a name, a port, the process whose CPU and memory count; and the model that is asked for."""

    def __init__(self, name, port, process=None, pid=None, model="m"):
        self.name, self.port, self.process, self.model = name, port, process, model
        self.pid = pid if pid else (process.pid if process else 0)


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder, self.processes, self.arms = build, folder, [], []
        cores = sorted(os.sched_getaffinity(0))
        self.client_core, self.gateway_core = cores[0], cores[-1]

    def launch(self, command, core, **options):
        process = subprocess.Popen(["taskset", "-c", str(core), *command], **options)
        self.processes.append(process)
        return process

    def start(self):
        stub_port = free_port()
        stub = self.launch([f"{self.build}/bin/bench_stub", str(stub_port)], self.client_core, stdout=subprocess.DEVNULL)
        wait_for_port(stub_port, stub)
        self.arms.append(Arm("direct", stub_port))
        if shutil.which("nginx"):
            port = free_port()
            path = fill("nginx.conf.in", f"{self.folder}/nginx.conf", PORT=port, STUB=stub_port, FOLDER=self.folder)
            process = self.launch(["nginx", "-c", path, "-p", self.folder], self.gateway_core)
            wait_for_port(port, process)
            workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
            self.arms.append(Arm("nginx", port, process, int(workers.stdout.split()[0])))
        if shutil.which("haproxy"):
            port = free_port()
            path = fill("haproxy.cfg.in", f"{self.folder}/haproxy.cfg", PORT=port, STUB=stub_port)
            process = self.launch(["haproxy", "-db", "-q", "-f", path], self.gateway_core)
            wait_for_port(port, process)
            self.arms.append(Arm("haproxy", port, process))
        port = free_port()
        path = fill("gateway.lua.in", f"{self.folder}/gateway.lua", PORT=port, STUB=stub_port)
        log = open(f"{self.folder}/acog.log", "wb")
        process = self.launch([f"{self.build}/bin/acog", "serve", path], self.gateway_core, stdout=log, stderr=log)
        wait_for_port(port, process)
        self.arms.append(Arm("acog", port, process))
        # The same requests to the same process, but for a model whose only connection speaks messages.
        self.translated = Arm("translated", port, process, model="t")

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def load(self, arm, body, **options):
        command = ["taskset", "-c", str(self.client_core), f"{self.build}/bin/bench_load", "--port", str(arm.port),
                   "--body", f"{body}.{arm.model}", "--pid", str(arm.pid)]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def body(self, name, text_bytes, pause_ms=0, **fields):
        """One file for each model, "PATH.MODEL"; `pause_ms` is for the stub, between the events of a stream."""
        path = f"{self.folder}/{name}.json"
        brief = f"Answer briefly. pause {pause_ms}"
        words = ("The quick brown fox jumps over the lazy dog. " * (text_bytes // 45 + 1))[:text_bytes]
        messages = [{"role": "system", "content": brief}, {"role": "user", "content": words}]
        for model in ("m", "t"):
            with open(f"{path}.{model}", "w", encoding="utf-8") as file:
                json.dump({"model": model, "max_tokens": 20, "messages": messages, **fields}, file,
                          separators=(",", ":"))
        return path


def row(label, values, base):
    middle = statistics.median(values)
    ratio = f"{middle / base:6.2f}" if base else "     -"
    return f"  {label:<10} {middle:10.3f}  [{min(values):.3f} .. {max(values):.3f}]  {ratio}"


def compare(bench, title, figure, rounds, body, minus_direct=False, translated=False, **options):
    """Runs all arms in turn, `rounds` times; prints the median of `figure` for each and the ratio to nginx."""
    arms = bench.arms + ([bench.translated] if translated else [])
    results = {arm.name: [] for arm in arms}
    for _ in range(rounds):
        for arm in arms:
            result = bench.load(arm, body, **options)
            if result["errors"] or result["other_status"]:
                print(f"  {arm.name}: {result['errors']} errors, {result['other_status']} other statuses")
            results[arm.name].append(result)
    print(f"\n{title}")
    for name in figure if isinstance(figure, list) else [figure]:
        print(f"  -- {name}: median [min .. max], ratio to nginx")
        columns = {arm: [result[name] for result in found] for arm, found in results.items()}
        if minus_direct:
            direct = statistics.median(columns["direct"])
            columns = {arm: [max(value - direct, 0) for value in found] for arm, found in columns.items()}
        base = statistics.median(columns["nginx"]) if "nginx" in columns else 0
        for arm in arms:
            if arm.name != "direct" or (not arm.pid and "cpu" not in name and not minus_direct):
                print(row(arm.name, columns[arm.name], base))
    sys.stdout.flush()


def memory(bench, streams):
    """Resident memory idle, and with `streams` slow streams open; and the CPU of a short request meanwhile."""
    print(f"\nmemory, {streams} open streams of one event a second (kB resident)")
    slow = bench.body("slow", 40, stream=True, max_tokens=3600, pause_ms=1000)
    short = bench.body("short", 600)
    for arm in bench.arms:
        if not arm.pid:
            continue
        alone = bench.load(arm, short, connections=8, seconds=2)["cpu_us_per_request"]
        idle_kb = resident_kb(arm.pid)
        command = ["taskset", "-c", str(bench.client_core), f"{bench.build}/bin/bench_load", "--port", str(arm.port),
                   "--body", f"{slow}.{arm.model}", "--connections", str(streams), "--seconds", "7", "--warm-up", "0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as holding:
            time.sleep(2)
            busy = bench.load(arm, short, connections=8, seconds=2)["cpu_us_per_request"]
            open_kb = resident_kb(arm.pid)
            holding.wait()
        print(f"  {arm.name:<10} idle {idle_kb:7d}  open {open_kb:7d}  per stream {(open_kb - idle_kb) / streams:6.1f}"
              f"  short request alone {alone:6.2f} us, meanwhile {busy:6.2f} us (x {busy / alone:.2f})")


def simulate(bench, rounds):
    """What a simulated request costs: the user time of `acog test` over 10,000 of them, on one core."""
    requests = 10_000
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "simulate_test.lua")
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["taskset", "-c", str(bench.gateway_core), f"{bench.build}/bin/acog", "test", path],
                       stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    middle = statistics.median(spent)
    print(f"\nsimulated requests (acog test, one core): {requests / middle:.0f} a second"
          f"  [{requests / max(spent):.0f} .. {requests / min(spent):.0f}]")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    wanted = [name for name in chosen.only.split(",") if name]
    with tempfile.TemporaryDirectory(prefix="acog-bench-") as folder:
        bench = Bench(chosen.build, folder)
        try:
            bench.start()
            common = {"rounds": chosen.rounds}
            timing = {"seconds": chosen.seconds, "warm_up": 0.7}
            workloads = {
                "1kb": lambda: compare(bench, "1 KB request, whole answer, 32 connections, closed loop",
                                       ["cpu_us_per_request", "requests_per_second"], body=bench.body("1kb", 800),
                                       translated=True, connections=32, **common, **timing),
                "100kb": lambda: compare(bench, "100 KB request, whole answer, 16 connections, closed loop",
                                         ["cpu_us_per_request"], body=bench.body("100kb", 100_000),
                                         translated=True, connections=16, **common, **timing),
                "stream": lambda: compare(bench, "paced streams: 100 at once, an event every 10 ms",
                                          ["cpu_us_per_event"], translated=True, connections=100, **common, **timing,
                                          body=bench.body("stream", 600, stream=True, max_tokens=100, pause_ms=10)),
                "latency": lambda: compare(bench, "added latency at 1,000 requests a second, open loop (ms over direct)",
                                           ["p50_ms", "p99_ms"], minus_direct=True, body=bench.body("open", 600),
                                           connections=64, rate=1000, **common, **timing),
                "memory": lambda: memory(bench, 1000),
                "simulate": lambda: simulate(bench, chosen.rounds),
            }
            for name, run in workloads.items():
                if not wanted or name in wanted:
                    run()
        finally:
            bench.stop()


if __name__ == "__main__":
    main()
