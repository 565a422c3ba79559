#!/bin/sh
# s4.sh ROOT - each line of CONFORMANCE S4 that is served is cited by a test of the policy and by one over real sockets.
set -eu
cd "$1"
status=0
for line in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 19 20 21 22 23 32; do
    for file in policies/acog/acog_test.lua tests/e2e/s4_test.py; do
        if ! grep -qE "S4\.$line([^0-9]|\$)" "$file"; then
            echo "$file: no test cites S4.$line"
            status=1
        fi
    done
done
exit $status
