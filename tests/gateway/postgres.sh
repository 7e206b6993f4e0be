#!/usr/bin/env bash
# Runs a command with ACL_TEST_POSTGRES set to a PostgreSQL of its own, which is thrown away afterwards:
#   tests/gateway/postgres.sh cargo test --features gateway --test gateway
# Exit 77, and a sentence, where there is no PostgreSQL to start.
set -euo pipefail

cannot() {
  echo "postgres.sh: $*" >&2
  exit 77
}
[ $# -gt 0 ] || cannot "give the command to run"

bin=$(command -v initdb 2>/dev/null | xargs -r dirname)
for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin; do
  if [ -z "$bin" ] && [ -x "$folder/initdb" ]; then bin=$folder; fi
done
[ -n "$bin" ] || cannot "PostgreSQL is not installed (Debian: apt-get install postgresql)"

base=$(mktemp -d /tmp/acl-pg.XXXXXX)
as=()
# PostgreSQL does not run as root.
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || cannot "there is no user postgres, and root may not start PostgreSQL"
  chown postgres "$base"
  as=(runuser -u postgres --)
fi
stop() {
  "${as[@]}" "$bin/pg_ctl" -D "$base/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$base"
}
trap stop EXIT

"${as[@]}" "$bin/initdb" -D "$base/data" -U acl -A trust -E UTF8 --no-sync >"$base/initdb.log" 2>&1 ||
  { cat "$base/initdb.log" >&2; cannot "initdb failed"; }
port=
for try in 1 2 3 4 5; do
  port=$((20000 + (RANDOM % 20000)))
  # Durability stays on: gateways are killed in the tests, not the machine, but time is measured as it would be.
  if "${as[@]}" "$bin/pg_ctl" -D "$base/data" -w -t 60 -l "$base/log" \
    -o "-p $port -k $base -c listen_addresses=127.0.0.1 -c max_connections=200" start >/dev/null 2>&1; then break; fi
  port=
done
[ -n "$port" ] || { cat "$base/log" >&2; cannot "PostgreSQL does not start"; }

echo "postgres.sh: PostgreSQL $("$bin/postgres" --version | awk '{print $3}') on port $port" >&2
export ACL_TEST_POSTGRES="postgres://acl:not-a-secret@127.0.0.1:$port/postgres"
status=0
"$@" || status=$?
exit "$status"
