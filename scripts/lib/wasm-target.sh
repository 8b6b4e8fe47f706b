# The wasm32 target of the Rust compiler: where it comes from, and which compiler has it.
#
# rustup adds it. Where rustup does not exist or cannot reach its server, debian-rust.sh installs another compiler.
# .tools/wasm-toolchain remembers which one, because PATH may name the other one first.
#
# Source it after common.sh.
# shellcheck shell=bash

WASM=wasm32-unknown-unknown
WASM_CHOICE=$TOOLS/wasm-toolchain

# use_wasm_toolchain -> puts the compiler that has the target first on PATH.
use_wasm_toolchain() {
  [[ $(cat "$WASM_CHOICE" 2>/dev/null) != debian ]] || export PATH="$ROOT/node_modules/.bin:/usr/bin:$PATH"
}

# has_wasm_target RUSTC -> whether that compiler finds the target's core library, and one of its own:
# the library built here carries the version it was built with, and a compiler may have been updated since.
has_wasm_target() {
  local lib
  lib=$("$1" --print target-libdir --target "$WASM" 2>/dev/null) || return 1
  compgen -G "$lib/libcore-*.rlib" >/dev/null || return 1
  [[ ! -e $lib/.built-with || $(cat "$lib/.built-with") == "$("$1" -V)" ]]
}

# ensure_wasm_target -> installs the target if no compiler has it. EDGE_MCP_WASM=rustup|debian forces one way.
ensure_wasm_target() {
  local forced=${EDGE_MCP_WASM:-} choice
  choice=$(cat "$WASM_CHOICE" 2>/dev/null || true)
  case $forced in
    '' | rustup | debian) ;;
    *) die "EDGE_MCP_WASM is \"$forced\": it may be rustup, debian or unset" ;;
  esac

  if [[ $choice == debian && $forced != rustup ]] && has_wasm_target /usr/bin/rustc; then return; fi
  if [[ $forced != debian ]] && has_wasm_target rustc; then
    [[ $choice == rustup ]] || remember rustup
    return
  fi

  case $forced in
    rustup) from_rustup || die "rustup could not add $WASM, and EDGE_MCP_WASM forbids the other way" ;;
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
  say "wasm32: asking rustup for $WASM (about 10 s)"
  # A server that cannot be reached refuses at once or not at all: one try, and a limit.
  if command -v timeout >/dev/null; then limit=(timeout 60); fi
  if RUSTUP_MAX_RETRIES=0 ${limit[@]+"${limit[@]}"} rustup target add "$WASM" >&2 && has_wasm_target rustc; then
    remember rustup
    say "wasm32: installed by rustup in $(took "$start")"
    return
  fi
  say "wasm32: rustup cannot get it here ($(took "$start"))"
  return 1
}
