#!/bin/sh
# run.sh [N] [ARGUMENTS] - the long differential run: N mutated requests (100,000) to a release build of the gateway, to
# HAProxy and to nginx, before recording backends. What is checked stands in run.py; ACOG_SEED repeats a run.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
requests=${1:-100000}
[ $# -eq 0 ] || shift
sh "$root/tests/support/install.sh" build test
cmake -S "$root" -B "$root/build-release" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$root/build-release" --target acog >/dev/null
exec python3 "$root/tests/differential/run.py" "$root/build-release/bin/acog" --requests "$requests" "$@"
