#!/bin/sh
# quickstart.sh - from a bare Debian or Ubuntu machine to a running gateway.
#
# It installs what is missing (apt), builds a release, starts the gateway on 127.0.0.1:4000 with
# examples/quickstart/gateway.lua, whose providers are simulated inside the gateway (no key, no network), and prints
# commands to try. The gateway runs until Ctrl-C, or until `kill` when it was started with --background.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
background=no
[ "${1:-}" = "--background" ] && background=yes

sh tests/support/install.sh build
echo "building acog (a minute the first time) ..."
mkdir -p build-release
if ! { cmake -S . -B build-release -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
    cmake --build build-release --target acog; } >build-release/build.log 2>&1; then
    tail -n 30 build-release/build.log >&2
    exit 1
fi
acog=build-release/bin/acog

"$acog" check examples/quickstart/gateway.lua
ready=build-release/quickstart.ready
: >"$ready"
"$acog" serve examples/quickstart/gateway.lua >"$ready" 2>build-release/quickstart.log &
gateway=$!
stop() { kill "$gateway" 2>/dev/null || true; }
trap 'stop; exit 130' INT TERM
tries=0
until grep -q '^READY' "$ready"; do
    if ! kill -0 "$gateway" 2>/dev/null || [ "$tries" -ge 100 ]; then
        echo "the gateway did not start:" >&2
        cat build-release/quickstart.log >&2
        stop
        exit 1
    fi
    tries=$((tries + 1))
    sleep 0.1
done

cat <<EOF

acog is running (process $gateway): $(cat "$ready")
Its providers are simulated, so no key and no network are needed. Try, in another terminal:

  # an answer, with the OpenAI API; the headers say which connection served
  curl -si http://127.0.0.1:4000/v1/chat/completions -H 'content-type: application/json' -d '{"model":"gpt-5-mini","messages":[{"role":"user","content":"hello"}]}'

  # the same model, streamed
  curl -sN http://127.0.0.1:4000/v1/chat/completions -H 'content-type: application/json' -d '{"model":"gpt-5-mini","stream":true,"messages":[{"role":"user","content":"hello"}]}'

  # the Anthropic API, streamed; the connection declares this model as claude-haiku-4-5@20251001, and is found
  curl -sN http://127.0.0.1:4000/v1/messages -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' -d '{"model":"claude-haiku-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hello"}]}'

  # a model of one API, asked over another: GPT as a Claude client sees it; what could not be carried is in x-acog-dropped-params
  curl -si http://127.0.0.1:4000/v1/messages -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' -d '{"model":"gpt-5-mini","max_tokens":64,"top_k":5,"messages":[{"role":"user","content":"hello"}]}'

  # a failover: the first connection of "failover-demo" always answers 503; see x-acog-connection and x-acog-attempts
  curl -si http://127.0.0.1:4000/v1/chat/completions -H 'content-type: application/json' -d '{"model":"failover-demo","messages":[{"role":"user","content":"hello"}]}'

  # what is served, and what the gateway says of itself
  curl -s http://127.0.0.1:4000/v1/models
  curl -s http://127.0.0.1:4001/status.json

  # why a request goes where it goes, without sending it
  $root/$acog explain $root/examples/quickstart/gateway.lua --model failover-demo

  # the configuration's own tests: no network, no key, no waiting
  $root/$acog test $root/examples/quickstart

EOF
if [ "$background" = yes ]; then
    echo "Stop it with: kill $gateway"
    trap - INT TERM
    exit 0
fi
echo "Log: build-release/quickstart.log. Ctrl-C stops the gateway."
wait "$gateway"
