#!/bin/sh
# tsan.sh [CTEST ARGUMENTS] - the suite under ThreadSanitizer; by hand, some ten minutes.
#
# All that runs our code: unit tests, Lua tests, scenarios, wire scripts, end-to-end tests, and the fights, which serve
# with two workers. A report ends the process it is about with exit code 66, so the test fails. ACOG_BUILD names a build
# folder to use.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${ACOG_BUILD:-$root/build-tsan}
launcher=""
if command -v ccache >/dev/null 2>&1; then launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"; fi
# shellcheck disable=SC2086
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DACOG_WERROR=ON -DACOG_SANITIZE=thread $launcher >/dev/null
cmake --build "$build"
cc -O1 -U_FORTIFY_SOURCE -shared -fPIC -o "$build/longjmp.so" "$root/tests/support/tsan/longjmp.c"
export LD_PRELOAD="$build/longjmp.so"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$root/tests/support/tsan.supp:${TSAN_OPTIONS:-}"
if [ $# -eq 0 ]; then set -- -R "^(unit|lua|scenarios|wire|e2e|fight)\."; fi
ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"
