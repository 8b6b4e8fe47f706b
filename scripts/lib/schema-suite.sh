# The official tests of JSON Schema, and the MCP registry's schema, for scripts/test schema: what tests/schema/requirements.txt names.
# Source it after common.sh, root.sh and apt.sh.
# shellcheck shell=bash

SCHEMA_SUITE=$TOOLS/json-schema-test-suite

# ensure_schema_suite -> draft2020-12/ and mcp-registry/ in that folder. Beside them is a copy of what they were made from; equal
# means nothing to do.
ensure_schema_suite() {
  local from=$ROOT/tests/schema/requirements.txt start=$SECONDS work=$SCHEMA_SUITE.new python package
  if cmp -s "$from" "$SCHEMA_SUITE/.made-from"; then return; fi
  if ! find_pip; then
    command -v apt-get >/dev/null ||
      die "the JSON-Schema-Test-Suite comes by Python's pip, and there is none: install Python 3 with pip (https://python.org)"
    apt_install python3-pip
    find_pip || die "python3-pip is installed, and still \`python3 -m pip\` does not run"
  fi
  say "json-schema-test-suite: fetching (about 10 s)"
  # Another version must not stay in its place if this fails.
  rm -rf "$work" "$SCHEMA_SUITE"
  mkdir -p "$work"
  # Of this package the source, since the built one is without the tests; of the tools with which pip looks into it, as ever.
  # pip checks the digest before that. It may ask for a virtual environment, but nothing is installed here.
  PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip download --quiet --no-deps \
    --no-binary jsonschema --requirement "$from" --dest "$work" >&2 || die "pip could not fetch the JSON-Schema-Test-Suite"
  package=$(cd "$work" && echo jsonschema-*.tar.gz)
  tar -xzf "$work/$package" -C "$work" --strip-components=3 "${package%.tar.gz}/json/tests/draft2020-12"
  # A wheel is a zip file, which Python can read where no program can.
  "$python" -m zipfile -e "$work"/skillsaw-*.whl "$work/wheel"
  mkdir "$work/mcp-registry"
  mv "$work"/wheel/skillsaw/schemas/mcp_registry/v2025_12_11/{server.schema.json,LICENSE} "$work/mcp-registry"
  rm -r "$work/wheel" "$work/$package" "$work"/skillsaw-*.whl
  cp "$from" "$work/.made-from"
  mv "$work" "$SCHEMA_SUITE"
  say "json-schema-test-suite: fetched in $(took "$start")"
}

# find_pip -> which Python has pip, in $python. The first on PATH may be another than the one that apt gives pip to.
find_pip() {
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then return; fi
  done
  return 1
}
