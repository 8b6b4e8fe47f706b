# Installs the wasm32 target of the Rust compiler, and selects the compiler that has the target.
#
# rustup adds the target. If rustup is missing or cannot reach its server, debian-rust.sh installs Debian's compiler.
# .tools/wasm-toolchain stores which compiler has the target, because the other one may come first on PATH.
#
# Source this file after common.sh.
# shellcheck shell=bash

WASM=wasm32-unknown-unknown
WASM_CHOICE=$TOOLS/wasm-toolchain

# use_wasm_toolchain -> puts the compiler that has the target first on PATH.
use_wasm_toolchain() {
  [[ $(cat "$WASM_CHOICE" 2>/dev/null) != debian ]] || export PATH="$ROOT/node_modules/.bin:/usr/bin:$PATH"
}

# has_wasm_target RUSTC -> whether the compiler finds a core library of its version for the target. debian-rust.sh stores the version of
# the compiler with the library, because an update of the compiler does not update this library.
has_wasm_target() {
  local lib
  lib=$("$1" --print target-libdir --target "$WASM" 2>/dev/null) || return 1
  compgen -G "$lib/libcore-*.rlib" >/dev/null || return 1
  [[ ! -e $lib/.built-with || $(cat "$lib/.built-with") == "$("$1" -V)" ]]
}

# ensure_wasm_target -> installs the target if no compiler has it. EDGE_MCP_WASM=rustup|debian selects the compiler.
ensure_wasm_target() {
  local forced=${EDGE_MCP_WASM:-} choice
  choice=$(cat "$WASM_CHOICE" 2>/dev/null || true)
  case $forced in
    '' | rustup | debian) ;;
    *) die "EDGE_MCP_WASM must be rustup, debian or unset (got \"$forced\")" ;;
  esac

  if [[ $choice == debian && $forced != rustup ]] && has_wasm_target /usr/bin/rustc; then return; fi
  if [[ $forced != debian ]] && has_wasm_target rustc; then
    [[ $choice == rustup ]] || remember rustup
    return
  fi

  case $forced in
    rustup) from_rustup || die "rustup could not add $WASM, and EDGE_MCP_WASM=rustup excludes Debian's compiler" ;;
    debian) fall_back ;;
    *) from_rustup || fall_back ;;
  esac
}

fall_back() {
  source "$ROOT/scripts/lib/debian-rust.sh"
  from_debian
}

remember() {
  mkdir -p "$TOOLS"
  printf '%s\n' "$1" >"$WASM_CHOICE"
}

from_rustup() {
  command -v rustup >/dev/null || return 1
  local start=$SECONDS limit=()
  say "wasm32: installing $WASM with rustup (about 10 s)"
  # If the server is unreachable, retries do not help, and a connection may hang. So rustup tries once, with a timeout.
  if command -v timeout >/dev/null; then limit=(timeout 60); fi
  if RUSTUP_MAX_RETRIES=0 ${limit[@]+"${limit[@]}"} rustup target add "$WASM" >&2 && has_wasm_target rustc; then
    remember rustup
    say "wasm32: installed by rustup in $(took "$start")"
    return
  fi
  say "wasm32: rustup could not install $WASM ($(took "$start"))"
  return 1
}
