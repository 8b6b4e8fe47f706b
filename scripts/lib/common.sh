# What every script here starts with: where the repository is, and how to speak.
# Source it; it runs nothing.
# shellcheck shell=bash

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
TOOLS=$ROOT/.tools

# The pinned npm tools before anything of the machine: wrangler's first line asks for `node`,
# and must find the one of package.json, not an older one.
MACHINE_PATH=$PATH
export PATH="$ROOT/node_modules/.bin:$PATH"
# wrangler keeps to itself: no metrics, no crash reports, no banner, no log files in the home folder,
# and no call for a sample of `request.cf`, which only delays the start where there is no network.
export WRANGLER_SEND_METRICS=false WRANGLER_SEND_ERROR_REPORTS=false WRANGLER_HIDE_BANNER=true
export WRANGLER_WRITE_LOGS=false CLOUDFLARE_CF_FETCH_ENABLED=false

say() { printf '%s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The comment at the top of the script is its help.
usage() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

# took SECONDS_AT_START -> "42 s"
took() { printf '%d s' "$((SECONDS - $1))"; }

# locked NAME -> the version of a crate in Cargo.lock, so that no script writes one a second time.
locked() {
  awk -v name="$1" '
    $1 == "name" { found = ($3 == "\"" name "\"") }
    found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }
  ' "$ROOT/Cargo.lock"
}
