#!/bin/sh
# Builds the Worker in this folder. The output is in build/. wrangler runs this script with `npm run build`.
set -eu

# Programs on PATH take precedence. install.sh installs a missing program.
need() {
  command -v "$1" >/dev/null && return
  program=$("${0%/*}/install.sh" "$@")
  PATH=$PATH:${program%/*}
}
need worker-build worker-build 0.8.7
need "${WASM_BINDGEN_BIN:=wasm-bindgen}" wasm-bindgen-cli 0.2.129

# worker-build downloads each program that these variables do not name. esbuild and wasm-opt are devDependencies of package.json.
export ESBUILD_BIN=esbuild WASM_OPT_BIN=wasm-opt WASM_BINDGEN_BIN

[ $# -gt 0 ] || set -- --release
worker-build "$@"

# In a release build, the names of functions are a sixth of the module. wasm-opt sorts the functions by name and then removes the names.
# The order makes similar functions neighbors, so gzip compresses them better.
case $1 in
  --release) wasm-opt --reorder-functions-by-name --strip-debug build/index_bg.wasm -o build/index_bg.wasm ;;
esac
