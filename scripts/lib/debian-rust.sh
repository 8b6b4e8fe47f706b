# The compiler of Debian's archive, for machines on which rustup cannot add the wasm32 target.
# Its library for the target is built here once, from Debian's own source package.
# wasm-target.sh sources it where it is needed; root.sh and apt.sh must be sourced before.
# shellcheck shell=bash

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
