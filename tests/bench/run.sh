#!/bin/sh
# run.sh [ARGUMENTS OF bench.py] - builds a release and measures it beside nginx, HAProxy and a direct arm.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sh "$root/tests/support/install.sh" build bench
cmake -S "$root" -B "$root/build-bench" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$root/build-bench" --target acog bench_stub bench_load >/dev/null
exec python3 "$root/tests/bench/bench.py" --build "$root/build-bench" "$@"
