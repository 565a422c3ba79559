#!/bin/sh
# run.sh BUILD SECONDS [NAME...] - lets the fuzzers of a build tree (made with -DACOG_FUZZ=ON) search, SECONDS in all.
#
# What they find worth keeping goes to BUILD/fuzz/NAME, so that the next run goes on from there. A crash is left as a
# file in BUILD/fuzz: put it into tests/fuzz/regressions/NAME with the change that heals it.
set -eu
build=$1
seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 0 ]; then
    for source in "$here"/*_fuzz.c; do
        name=${source##*/}
        set -- "$@" "${name%_fuzz.c}"
    done
fi
each=$((seconds / $#))
[ "$each" -gt 0 ] || each=1
for name in "$@"; do
    found=$build/fuzz/$name
    mkdir -p "$found"
    set -- "$found"
    for folder in "$here/corpus/$name" "$here/regressions/$name"; do
        if [ -d "$folder" ]; then
            set -- "$@" "$folder"
        fi
    done
    echo "-- $name, $each s"
    log=$build/fuzz/$name.log
    if ! "$build/bin/fuzz_$name" -max_total_time="$each" -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
        -artifact_prefix="$build/fuzz/$name-" "$@" >"$log" 2>&1; then
        tail -n 40 "$log"
        exit 1
    fi
    tail -n 1 "$log"
done
