#!/bin/sh
# tidy.sh ROOT BUILD - clang-tidy over the code of the product, with the compile commands of a clang build.
# One file a run: with several, clang-tidy 14 remembers the va_list of one in the next and reports what is not there.
set -eu
cd "$1"
find core lua -name '*.c' -print0 | sort -z |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$2" --quiet 2>/dev/null
