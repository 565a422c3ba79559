#!/bin/sh
# format.sh ROOT - the form of every C file is clang-format's.
set -eu
cd "$1"
find core lua include tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
