#!/bin/sh
# install.sh GROUP... - installs what is missing of the named groups, from Debian. Quiet when nothing is.
#   build   what a build of acog needs      test   what the tests and gates need
#   bench   the peers of the bench
set -eu
wanted=""
for group in "$@"; do
    case "$group" in
    build)
        wanted="$wanted build-essential cmake ninja-build pkg-config liblua5.4-dev libevent-dev libcurl4-openssl-dev
            libssl-dev libjansson-dev zlib1g-dev ca-certificates curl"
        ;;
    test)
        wanted="$wanted git libcmocka-dev clang clang-format clang-tidy libclang-rt-dev lua-check shellcheck varnish
            python3 python3-venv nodejs npm haproxy nginx-light openssl sslscan"
        ;;
    bench) wanted="$wanted libcmocka-dev nginx-light haproxy python3 procps" ;;
    *)
        echo "install.sh: unknown group $group" >&2
        exit 2
        ;;
    esac
done
missing=""
for package in $wanted; do
    case "$package" in
    # Present without the package, as on a machine with its own Node.js, is present.
    nodejs) command -v node >/dev/null 2>&1 && continue ;;
    npm) command -v npm >/dev/null 2>&1 && continue ;;
    nginx-light) command -v nginx >/dev/null 2>&1 && continue ;;
    esac
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo"
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
