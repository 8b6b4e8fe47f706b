# Paths, environment variables and functions that every script needs. Sourcing this file runs no command.
# shellcheck shell=bash

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
TOOLS=$ROOT/.tools

# The pinned npm tools come first on PATH. wrangler runs the first `node` on PATH, which must be the version of package.json, not an
# older one of the machine.
MACHINE_PATH=$PATH
export PATH="$ROOT/node_modules/.bin:$PATH"
# wrangler sends no metrics and no crash reports, prints no banner, and writes no log files to the home folder. It does not fetch a
# sample of `request.cf`, because that delays the start on a machine without network.
export WRANGLER_SEND_METRICS=false WRANGLER_SEND_ERROR_REPORTS=false WRANGLER_HIDE_BANNER=true
export WRANGLER_WRITE_LOGS=false CLOUDFLARE_CF_FETCH_ENABLED=false

say() { printf '%s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# usage -> prints the comment at the top of the script, which is its --help text
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

# took SECONDS_AT_START -> the time since then, as "42 s"
took() { printf '%d s' "$((SECONDS - $1))"; }

# locked NAME -> the version of a crate in Cargo.lock. Scripts use it instead of a second copy of the version.
locked() {
  awk -v name="$1" '
    $1 == "name" { found = ($3 == "\"" name "\"") }
    found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }
  ' "$ROOT/Cargo.lock"
}
