# Downloads the official tests of JSON Schema and the schema of the MCP registry, for scripts/test core. They are in the Python
# packages that tests/schema/requirements.txt lists.
# Source this file after common.sh, root.sh and apt.sh.
# shellcheck shell=bash

SCHEMA_SUITE=$TOOLS/json-schema-test-suite

# ensure_schema_suite -> writes draft2020-12/, draft2019-09/, draft7/ and mcp-registry/ to $SCHEMA_SUITE, with a copy of requirements.txt. If
# the copy is equal to requirements.txt, and all folders exist, the folder is up to date.
ensure_schema_suite() {
  local from=$ROOT/tests/schema/requirements.txt start=$SECONDS work=$SCHEMA_SUITE.new python package tests
  if cmp -s "$from" "$SCHEMA_SUITE/.made-from" && [ -d "$SCHEMA_SUITE/draft7" ]; then return; fi
  if ! find_pip; then
    command -v apt-get >/dev/null ||
      die "the download of the JSON-Schema-Test-Suite needs pip: install Python 3 with pip (https://python.org)"
    apt_install python3-pip
    find_pip || die "python3-pip is installed, but \`python3 -m pip\` does not run"
  fi
  say "json-schema-test-suite: downloading (about 10 s)"
  # If the download fails, an old version must not remain.
  rm -rf "$work" "$SCHEMA_SUITE"
  mkdir -p "$work"
  # Only the source package of jsonschema contains the tests. To read its metadata, pip runs build tools, which may be binary packages.
  # pip checks the digest of the source package before it runs these tools.
  # The configuration of pip may require a virtual environment. This command does not need one, because it installs nothing.
  PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip download --quiet --no-deps \
    --no-binary jsonschema --requirement "$from" --dest "$work" >&2 || die "pip could not download the JSON-Schema-Test-Suite"
  package=$(cd "$work" && echo jsonschema-*.tar.gz)
  tests=${package%.tar.gz}/json/tests
  tar -xzf "$work/$package" -C "$work" --strip-components=3 "$tests"/draft2020-12 "$tests"/draft2019-09 "$tests"/draft7
  # A wheel is a zip file. Python reads it, because the machine may have no program for zip files.
  "$python" -m zipfile -e "$work"/skillsaw-*.whl "$work/wheel"
  mkdir "$work/mcp-registry"
  mv "$work"/wheel/skillsaw/schemas/mcp_registry/v2025_12_11/{server.schema.json,LICENSE} "$work/mcp-registry"
  rm -r "$work/wheel" "$work/$package" "$work"/skillsaw-*.whl
  cp "$from" "$work/.made-from"
  mv "$work" "$SCHEMA_SUITE"
  say "json-schema-test-suite: downloaded in $(took "$start")"
}

# find_pip -> sets $python to a Python that has pip. apt installs pip for /usr/bin/python3, which may not be the first Python on PATH.
find_pip() {
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then return; fi
  done
  return 1
}
