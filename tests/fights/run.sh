#!/bin/sh
# run.sh [NAME...] - the fights in their long form, against a release, and what they cost in memory and descriptors.
#
# Some minutes, loopback only. A hard limit of 12,000 descriptors or more (ulimit -Hn) is needed for idle_clients to be
# ten thousand; with less there are fewer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${ACOG_BUILD:-$root/build-bench}
if [ -z "${ACOG_BUILD:-}" ]; then
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
    cmake --build "$build" --target acog >/dev/null
fi
if [ $# -eq 0 ]; then
    for file in "$here"/*.py; do
        name=$(basename "$file" .py)
        [ "$name" = fight ] || set -- "$@" "$name"
    done
fi
for name in "$@"; do
    python3 "$here/$name.py" "$build/bin/acog" --long
done
