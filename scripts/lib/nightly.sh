# Installs the nightly compiler, which scripts/build --unwind needs.
# Source this file after common.sh and wasm-target.sh.
# shellcheck shell=bash

# has_unwinding -> whether a compiler is installed that can build modules that survive a panic. Only the nightly compiler has an
# option for such modules. With this option, cargo also builds the standard library, so it needs the source of the library.
has_unwinding() {
  local root
  root=$(rustc +nightly --print sysroot 2>/dev/null) && [[ -d $root/lib/rustlib/src/rust/library && -d $root/lib/rustlib/$WASM ]]
}

# ensure_unwinding -> installs the nightly compiler with rustup. Debian has no nightly compiler.
ensure_unwinding() {
  local start=$SECONDS
  if has_unwinding; then return; fi
  command -v rustup >/dev/null || die "--unwind needs a nightly Rust, which only rustup installs: install rustup (https://rustup.rs)"
  say "nightly: installing the compiler, its source and $WASM with rustup (about a minute)"
  if rustc +nightly --version >/dev/null 2>&1; then
    rustup component add rust-src --toolchain nightly >&2 && rustup target add "$WASM" --toolchain nightly >&2
  else
    rustup toolchain install nightly --profile minimal --component rust-src --target "$WASM" >&2
  fi || die "rustup could not install the nightly compiler:" \
    "\`rustup toolchain install nightly --component rust-src --target $WASM\` must succeed"
  say "nightly: installed in $(took "$start")"
}

# use_unwinding -> makes cargo build modules that survive a panic, in a folder of their own.
use_unwinding() {
  has_unwinding || die "--unwind needs a nightly compiler: run scripts/setup --unwind first"
  export RUSTUP_TOOLCHAIN=nightly CARGO_UNSTABLE_BUILD_STD=std,panic_unwind CARGO_PROFILE_RELEASE_PANIC=unwind
  export RUSTFLAGS="${RUSTFLAGS:-} -Cpanic=unwind" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ROOT/target}/unwind
}
