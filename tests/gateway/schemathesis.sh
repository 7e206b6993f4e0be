#!/usr/bin/env bash
# The OpenAPI document drives requests of all kinds at a server of its own: no answer may be of the 500s, and each must be
# one that the document knows. Needs Python; fetches schemathesis. SECONDS_LONG: how long (300).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
acl=$(realpath "${ACL:-target/debug/acl}")
cache=${GATEWAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/acl-gateway}
st=$cache/venv/bin/schemathesis
if [ ! -x "$st" ]; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet schemathesis
fi
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
submit=$(openssl rand -hex 24) decide=$(openssl rand -hex 24)
(umask 077; printf 'submit test %s\ndecide test %s\n' "$submit" "$decide" > "$work/tokens")
policy=$PWD/policies/gateway.yaml
# What is left behind stays there.
cd "$work"
HOME=$work "$acl" serve --listen 127.0.0.1:0 --policy "$policy" --tokens "$work/tokens" --timeout 20s \
  --most-pending 200 2> "$work/log" &
server=$!
for _ in $(seq 100); do grep -q listening "$work/log" && break; sleep 0.1; done
base=$(sed -n 's/.*listening on //p' "$work/log")
long=${SECONDS_LONG:-300}
checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance
# Each role in turn, for its half of the time; the stream of events has no end, and is tested elsewhere.
for token in "$submit" "$decide"; do
  timeout --signal=INT --kill-after=20 $((long / 2 + 30)) "$st" run "$base/v1/openapi.json" --url "$base" \
    -H "Authorization: Bearer $token" --exclude-path /v1/events --exclude-path-regex '^/$' --checks "$checks" \
    --phases examples,coverage,fuzzing,stateful --max-time $((long / 2)) --request-timeout 70 --generation-database none \
    --suppress-health-check all --max-examples 20000 --no-color || failed=1
done
grep -v -e listening -e 'to decide' "$work/log" | sort | uniq -c | sort -rn | head -20 || true
exit "${failed:-0}"
