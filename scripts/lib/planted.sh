# Measures whether the simulation finds the planted faults. scripts/simulate sources this file.
# shellcheck shell=bash

# The time in which a fault must be found, in seconds.
PLANTED_SECONDS=60

# planted [NUMBER…] -> builds the simulation with each patch of tests/simulation/planted, or with those that have these numbers, and prints a
# table
planted() {
  local patch tree target name output found missed=0 wanted=" $* "
  tree=${CARGO_TARGET_DIR:-$ROOT/target}/planted
  target=$tree/target
  # A copy with a constant path: cargo then builds only what a patch changes.
  mkdir -p "$tree"
  printf '| fault | found | seed | seconds |\n|---|---|---|---|\n'
  for patch in "$ROOT"/tests/simulation/planted/*.patch; do
    name=$(basename "$patch" .patch)
    [[ $# == 0 || $wanted == *" ${name%%-*} "* ]] || continue
    copy_sources "$tree"
    (cd "$tree" && GIT_CEILING_DIRECTORIES=$(dirname "$tree") git apply "$patch")
    (cd "$tree" && cargo build --quiet --profile simulation -p simulation --target-dir "$target" 2>/dev/null) ||
      die "$name does not compile"
    output=$("$target/simulation/simulation" --seconds "$PLANTED_SECONDS" --no-shrink 2>/dev/null || true)
    found=$(sed -nE 's/^seed ([0-9]+) violates ([A-Za-z]+): .* \(after ([0-9.]+) s\)$/| \2 | \1 | \3 |/p' <<<"$output")
    [[ -n $found ]] || missed=$((missed + 1))
    printf '| %s %s\n' "$name" "${found:-| **not found** | | |}"
  done
  ((missed == 0)) || die "$missed planted faults were not found within $PLANTED_SECONDS s"
}

# copy_sources FOLDER -> copies the files that the simulation is built from. A file that is the same keeps its time.
copy_sources() {
  local file
  while IFS= read -r file; do
    cmp --silent "$ROOT/$file" "$1/$file" && continue
    mkdir -p "$1/$(dirname "$file")"
    cp "$ROOT/$file" "$1/$file"
  done < <(cd "$ROOT" && git ls-files --cached --others --exclude-standard -- '*.rs' '*.toml' '*.sql' '*.md' '*.json' Cargo.lock README.md)
}
