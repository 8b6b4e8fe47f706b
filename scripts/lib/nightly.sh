# The nightly compiler, which scripts/build --unwind needs.
# Source it after common.sh and wasm-target.sh.
# shellcheck shell=bash

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
