#!/bin/sh
# banned.sh ROOT - functions that must not be called, with the reason.
set -eu
cd "$1"
status=0
ban() { # PATTERN WHY [FOLDERS]
    # shellcheck disable=SC2086
    if grep -rnE --include='*.[ch]' "(^|[^a-zA-Z0-9_.>])($1)[[:space:]]*\(" ${3:-core lua include tests}; then
        echo "   ^ banned: $2"
        status=1
    fi
}
ban 'strcpy|strcat|sprintf|vsprintf|gets|strncpy|strncat' 'no bounds'
ban 'atoi|atol|atoll|atof' 'no error'
ban 'strtok|localtime|gmtime|asctime|ctime|rand|srand' 'hidden state'
ban 'alloca' 'unbounded stack'
ban 'system|popen' 'a shell' 'core lua include'
ban 'malloc|calloc|realloc|free|strdup|strndup' 'memory goes through acog/memory.h' \
    'core/engine core/stream core/dialect core/exchange core/provider core/http core/upstream core/gateway core/simulate'
ban 'luaL_openlibs|lua_call|luaL_dofile|luaL_loadfile' 'one protected way into Lua' 'core lua'
ban 'usleep|sleep|nanosleep' 'tests and servers wait for events' 'core lua tests/unit'
exit $status
