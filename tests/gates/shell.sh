#!/bin/sh
# shell.sh ROOT - shellcheck over every script.
set -eu
cd "$1"
find tests examples -name '*.sh' -print0 | xargs -0 shellcheck .ci/run
