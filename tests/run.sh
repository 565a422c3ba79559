#!/bin/sh
# run.sh [CTEST ARGUMENTS] - everything that can be checked offline, cheap things first.
#
# It installs what is missing (apt; npm and pip for the official SDKs), builds with gcc, warnings as errors, under
# AddressSanitizer and UndefinedBehaviorSanitizer, and runs every ctest case. Then it builds with clang, runs
# clang-tidy, and fuzzes for three minutes. With arguments only the first part runs, and they go to ctest:
#
#     sh tests/run.sh -R unit.http
#
# Tests over captured data run where ACOG_CORPUS names their folder; the last lines say what was skipped without it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
sh tests/support/install.sh build test
launcher=""
if command -v ccache >/dev/null 2>&1; then launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache"; fi

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }

say "build: gcc, -Werror, AddressSanitizer and UndefinedBehaviorSanitizer"
# shellcheck disable=SC2086
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DACOG_WERROR=ON \
    -DACOG_SANITIZE=address,undefined $launcher >/dev/null
cmake --build build

say "tests"
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
ctest --test-dir build --output-on-failure --no-tests=error --output-log build/ctest.log "$@"
[ $# -eq 0 ] || exit 0

say "build: clang, -Werror, and clang-tidy"
# shellcheck disable=SC2086
cmake -S . -B build-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DACOG_WERROR=ON \
    -DACOG_FUZZ=ON $launcher >/dev/null
cmake --build build-clang
sh tests/gates/tidy.sh "$root" build-clang

say "fuzzing, three minutes: each target for a moment, the day's two for longer"
sh tests/fuzz/run.sh build-clang 180

say "done"
skipped=$(grep -c '\*\*\*Skipped' build/ctest.log || true)
total=$(sed -n 's/^.*% tests passed, .* tests failed out of \([0-9]*\).*/\1/p' build/ctest.log)
failed=$(sed -n 's/^.*% tests passed, \([0-9]*\) tests failed out of.*/\1/p' build/ctest.log)
if [ -z "${ACOG_CORPUS:-}" ]; then
    echo "ACOG_CORPUS is not set: tests over captured data were skipped."
fi
echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
