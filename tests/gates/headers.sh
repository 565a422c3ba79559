#!/bin/sh
# headers.sh ROOT CC - each public header compiles alone.
set -eu
cd "$1"
status=0
for header in include/acog/*.h lua/*.h; do
    [ -f "$header" ] || continue
    # shellcheck disable=SC2046
    if ! printf '#include "%s"\n' "$PWD/$header" |
        "$2" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Ilua $(pkg-config --cflags lua5.4) \
            -x c -fsyntax-only -; then
        echo "   ^ $header does not stand alone"
        status=1
    fi
done
exit $status
