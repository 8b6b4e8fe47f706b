# Installs the compiler of Debian's archive, for machines on which rustup cannot add the wasm32 target.
# Builds the standard library for the target once, from Debian's source package.
# wasm-target.sh sources this file when it needs Debian's compiler. Source root.sh and apt.sh first.
# shellcheck shell=bash

from_debian() {
  command -v apt-get >/dev/null ||
    die "the target $WASM cannot be installed: $(command -v rustup >/dev/null && echo "rustup failed" || echo "rustup is missing")," \
      "and apt-get is missing. Install Rust with rustup (https://rustup.rs), and run this script again"
  local start=$SECONDS llvm
  say "wasm32: installing Debian's compiler and building its standard library for $WASM (about 2 minutes)"
  # The lint part of scripts/test needs the clippy of this compiler.
  apt_install rustc-web cargo-web rust-web-src rust-web-llvm rust-web-clippy
  if ! command -v rustfmt >/dev/null; then apt_install rustfmt-web; fi
  # The linker must have the LLVM version of the compiler.
  llvm=$(/usr/bin/rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
  apt_install "lld-$llvm"
  has_wasm_target /usr/bin/rustc || build_wasm_library
  has_wasm_target /usr/bin/rustc || die "Debian's compiler does not find the library that was built for $WASM"
  remember debian
  say "wasm32: installed from Debian's archive in $(took "$start")"
}

# build_wasm_library -> builds the standard library for wasm32 and installs it in the folder of the compiler. Debian ships the source of
# the standard library, but not this build. -Zbuild-std is a nightly feature, so RUSTC_BOOTSTRAP=1 enables it. Later builds use the
# installed library and need no nightly feature.
build_wasm_library() {
  local work=$TOOLS/wasm-library lib
  lib=$(/usr/bin/rustc --print target-libdir --target "$WASM")
  rm -rf "$work"
  mkdir -p "$work/src"
  : >"$work/src/lib.rs"
  printf '%s\n' '[package]' 'name = "nothing"' 'edition = "2021"' '[workspace]' >"$work/Cargo.toml"
  (
    cd "$work"
    # The link-time optimization of the release profile needs -Cembed-bitcode.
    PATH="/usr/bin:$PATH" RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Cembed-bitcode=yes" CARGO_TARGET_DIR="$work/target" \
      cargo build --quiet --release --target "$WASM" -Zbuild-std=std,panic_abort,proc_macro,test
  )
  rm -f "$work/target/$WASM"/release/deps/libnothing*
  ask_for_root install -t "$lib" "(the library built for $WASM)"
  /usr/bin/rustc -V >"$work/.built-with"
  # Remove the library of an older compiler, because the compiler would find it first.
  as_root rm -rf "$lib"
  as_root install -D -m 644 -t "$lib" "$work/target/$WASM"/release/deps/*.rlib "$work/.built-with"
  # cargo does not detect that the standard library has changed, so delete the files that cargo built with the old library.
  rm -rf "$work" "${CARGO_TARGET_DIR:-$ROOT/target}/$WASM"
}
