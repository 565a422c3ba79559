#!/bin/sh
# run.sh ACOG SCRIPT - plays one wire script against a gateway binary.
#
# In the script ${acog} is the binary, ${scripts} the folder of the scripts, ${tmpdir} a folder of its own that goes
# away. A gateway is a `process`, ready when it has printed READY:
#
#     shell { cat >${tmpdir}/gateway.lua <<'END' … END }
#     process p1 {exec ${acog} serve ${tmpdir}/gateway.lua --listen unix:${tmpdir}/acog.sock} -start
#     process p1 -expect-text 0 0 "READY"
#     client c1 -connect ${tmpdir}/acog.sock { … } -run
#     process p1 -stop -wait
#
# Its log is ${p1_err}. Exit: varnishtest's; 77 (skipped) where varnishtest is missing.
set -eu
if ! command -v varnishtest >/dev/null; then
    echo "SKIPPED: varnishtest is missing (Debian: apt install varnish)"
    exit 77
fi
# -b: the whole log of a script, large bodies included, is kept in one buffer.
exec varnishtest -b 64M -t 60 -Dacog="$1" -Dscripts="$(dirname "$2")" "$2"
