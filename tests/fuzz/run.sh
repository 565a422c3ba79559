#!/bin/sh
# run.sh BUILD SECONDS [NAME...] - lets the fuzzers of a build tree (made with -DACOG_FUZZ=ON) search, SECONDS in all.
#
# With names those share the time: a long run by hand. Without, as in CI, each has a moment and two have the rest; which
# two goes by the day, so that each has its turn every few days. What they find worth keeping goes to BUILD/fuzz/NAME, so
# that the next run goes on from there; dictionaries/NAME.dict has the words of a target, if it needs any. A crash is
# left as a file in BUILD/fuzz: put it into tests/fuzz/regressions/NAME with the change that heals it. Each tells how many
# inputs it ran, and what they cover.
#
#     sh tests/fuzz/run.sh build-clang 7200 exchange sse      # an hour each; again: another hour
#     build-clang/bin/fuzz_sse -merge=1 smaller build-clang/fuzz/sse      # as many of its inputs as cover the same
set -eu
build=$1
seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
moment=5 # seconds, of a target whose day it is not

search() { # NAME SECONDS
    name=$1
    found=$build/fuzz/$name
    log=$found.log
    mkdir -p "$found"
    echo "-- $name, $2 s"
    set -- "-max_total_time=$2" "$found"
    if [ -f "$here/dictionaries/$name.dict" ]; then
        set -- "$@" "-dict=$here/dictionaries/$name.dict"
    fi
    for folder in "$here/corpus/$name" "$here/regressions/$name"; do
        if [ -d "$folder" ]; then
            set -- "$@" "$folder"
        fi
    done
    if ! "$build/bin/fuzz_$name" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -artifact_prefix="$found-" "$@" >"$log" 2>&1; then
        tail -n 40 "$log"
        exit 1
    fi
    echo "   $(tail -n 1 "$log"), $(sed -n 's/.*\(cov: [0-9]* ft: [0-9]* corp: [0-9]*\).*/\1/p' "$log" | tail -n 1)"
}

if [ $# -gt 0 ]; then
    each=$((seconds / $#))
    for name in "$@"; do
        search "$name" "$((each > 0 ? each : 1))"
    done
    exit 0
fi

for source in "$here"/*_fuzz.c; do
    name=${source##*/}
    set -- "$@" "${name%_fuzz.c}"
done
day=$(($(date +%s) / 86400))
first=$((day * 2 % $#))
second=$(((first + 1) % $#))
rest=$(((seconds - moment * ($# - 2)) / 2))
at=0
for name in "$@"; do
    if [ "$at" -eq "$first" ] || [ "$at" -eq "$second" ]; then
        search "$name" "$((rest > moment ? rest : moment))"
    else
        search "$name" "$moment"
    fi
    at=$((at + 1))
done
