#!/bin/sh
# lua.sh ROOT - luacheck over every Lua file of the project.
set -eu
cd "$1"
luacheck --quiet $(find lua policies examples tests -name '*.lua' | sort)
