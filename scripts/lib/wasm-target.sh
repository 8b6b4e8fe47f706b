# The wasm32 target of the Rust compiler: where it comes from, and which compiler has it.
#
# Two ways lead to it. `rustup target add` where rustup exists and its server answers; else the
# compiler of Debian's archive, whose library is built here once from Debian's own source package.
# Which one was taken is remembered in .tools/wasm-toolchain, because the second is another
# compiler (/usr/bin) than the one that PATH may name first.
#
# Source it after common.sh; to install, after apt.sh too.
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
    debian) from_debian ;;
    *) from_rustup || from_debian ;;
  esac
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

from_debian() {
  command -v apt-get >/dev/null ||
    die "no way to the target $WASM: $(command -v rustup >/dev/null && echo "rustup did not answer" || echo "there is no rustup"), and no apt-get. Install Rust with rustup (https://rustup.rs), then run this again"
  local start=$SECONDS llvm
  say "wasm32: installing Debian's compiler and building its library for $WASM (about 2 minutes)"
  # clippy comes too: the lint part of scripts/test needs the one that belongs to this compiler.
  apt_install rustc-web cargo-web rust-web-src rust-web-llvm rust-web-clippy
  if ! command -v rustfmt >/dev/null; then apt_install rustfmt-web; fi
  # The linker must be of the compiler's own LLVM.
  llvm=$(/usr/bin/rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
  apt_install "lld-$llvm"
  has_wasm_target /usr/bin/rustc || build_wasm_library
  has_wasm_target /usr/bin/rustc || die "Debian's compiler still does not find $WASM"
  remember debian
  say "wasm32: installed from Debian's archive in $(took "$start")"
}

# Debian ships the source of the standard library but not its wasm32 build. Building it is a
# nightly feature of cargo, which RUSTC_BOOTSTRAP=1 opens; installed in the compiler's own
# folder, it makes every later build an ordinary one.
build_wasm_library() {
  local work=$TOOLS/wasm-library lib
  lib=$(/usr/bin/rustc --print target-libdir --target "$WASM")
  rm -rf "$work"
  mkdir -p "$work/src"
  : >"$work/src/lib.rs"
  printf '%s\n' '[package]' 'name = "nothing"' 'edition = "2021"' '[workspace]' >"$work/Cargo.toml"
  (
    cd "$work"
    # -Cembed-bitcode: without it the release profile's link-time optimization cannot use the library.
    PATH="/usr/bin:$PATH" RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Cembed-bitcode=yes" CARGO_TARGET_DIR="$work/target" \
      cargo build --quiet --release --target "$WASM" -Zbuild-std=std,panic_abort,proc_macro,test
  )
  rm -f "$work/target/$WASM"/release/deps/libnothing*
  ask_for_root install -t "$lib" "(the library built for $WASM)"
  /usr/bin/rustc -V >"$work/.built-with"
  # The library of an older compiler may be there, and would be found first.
  as_root rm -rf "$lib"
  as_root install -D -m 644 -t "$lib" "$work/target/$WASM"/release/deps/*.rlib "$work/.built-with"
  # cargo would not see that what it has built rests on another library now.
  rm -rf "$work" "${CARGO_TARGET_DIR:-$ROOT/target}/$WASM"
}

# has_unwinding -> whether there is a compiler whose modules survive a panic: that is an option of the nightly one alone, and needs
# the source of the standard library, which is built with it.
has_unwinding() {
  local root
  root=$(rustc +nightly --print sysroot 2>/dev/null) && [[ -d $root/lib/rustlib/src/rust/library && -d $root/lib/rustlib/$WASM ]]
}

# ensure_unwinding -> installs it by rustup; Debian has no nightly compiler.
ensure_unwinding() {
  local start=$SECONDS
  if has_unwinding; then return; fi
  command -v rustup >/dev/null || die "unwinding needs a nightly Rust, which only rustup installs: https://rustup.rs"
  say "nightly: asking rustup for the compiler, its source and $WASM (about a minute)"
  if rustc +nightly --version >/dev/null 2>&1; then
    rustup component add rust-src --toolchain nightly >&2 && rustup target add "$WASM" --toolchain nightly >&2
  else
    rustup toolchain install nightly --profile minimal --component rust-src --target "$WASM" >&2
  fi || die "rustup cannot get the nightly compiler here: \`rustup toolchain install nightly --component rust-src --target $WASM\` has to succeed"
  say "nightly: installed in $(took "$start")"
}
