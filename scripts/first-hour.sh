#!/usr/bin/env bash
# The first hour of a new user, timed: from a fresh clone to the first fact, to the first agent, and to the first passing
# test, with the commands of README.md. Everything happens in a folder that only its user can enter (mode 700), with a
# home folder of its own; only npm's settings and cache are those of the caller. It prints the times and has no bar.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

export npm_config_userconfig="${npm_config_userconfig:-$HOME/.npmrc}"
npm_config_cache="$(cd / && npm config get cache 2>/dev/null)"
export npm_config_cache

folder="$(mktemp -d)"
service=""
started=""
finish() {
  if [ -n "$service" ]; then kill "$service" && wait "$started" || true; fi
  rm -rf "$folder"
}
trap finish EXIT

start=$SECONDS
git clone --quiet "$root" "$folder/clone"
# The commands below are the README's, word for word: its port, its search path and its home folder are set here.
mkdir "$folder/home" "$folder/global"
export HOME="$folder/home" PATH="$folder/global/bin:$PATH" npm_config_prefix="$folder/global" SIDEBAND_PORT=0
unset SIDEBAND_DATA SIDEBAND_API_URL SIDEBAND_API_KEY SIDEBAND_USER_ID

log="$folder/log"
times=""
reached() { times+="$(printf '%5d s  %s' "$((SECONDS - start))" "$1")"$'\n'; }
# Runs a command quietly; where it fails, shows what it said.
quietly() { "$@" >"$log" 2>&1 || { cat "$log"; echo "first hour: failed: $*"; exit 1; }; }
# Ends the run unless the text holds what is expected.
expect() { [[ "$1" == *"$2"* ]] || { echo "first hour: expected $2, but got: $1"; exit 1; }; }

cd "$folder/clone"
(npm ci && npm start) >"$folder/said" 2>"$folder/service.log" &
started=$!
until grep -q "curl -s" "$folder/said"; do
  kill -0 "$started" 2>/dev/null || { cat "$folder/said" "$folder/service.log"; exit 1; }
  sleep 0.1
done
# The process itself, and not npm in front of it.
service="$(node -p "require('$HOME/.sideband/data/owner.json').pid")"
reached "installed, built and running ($(du -sm node_modules | cut -f1) MB in node_modules)"
quietly npm install -g .
# The command that the first start prints, as a user would copy it.
expect "$(bash -c "$(grep "curl -s" "$folder/said")")" '"status":"ok"'
# It is about the person who types it, and so are the commands.
expect "$(sideband facts)" "USER.os=Linux"
reached "first fact written and read"

quietly sideband agents install claude-code
# What the agent's host runs when a session starts.
session='{"hook_event_name":"SessionStart","source":"startup"}'
expect "$(SIDEBAND_TIMEOUT_MS=20000 sideband hook <<<"$session")" "USER.os=Linux"
reached "first agent has the fact in its session"

quietly npm test -- codec/field
expect "$(grep -E "pass|fail" "$log")" "fail 0"
reached "first passing test (npm test -- codec/field)"

echo "first hour, as $(id -un) in a folder of mode $(stat -c %a "$folder"):"
printf '%s' "$times"
