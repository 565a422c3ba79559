#!/bin/sh
# lua.sh ROOT - luacheck over every Lua file of the project.
set -eu
cd "$1"
find lua policies examples tests -name '*.lua' -print0 | sort -z | xargs -0 luacheck --quiet
