#!/bin/sh
# Installs a Rust program in a folder that all servers on this machine share, unless it is there. Prints its path.
#
#   ./install.sh PROGRAM CRATE VERSION [OPTION OF cargo install…]
set -eu
program=$1 crate=$2 version=$3
shift 3
# A relative folder is ignored, as its specification demands.
case ${XDG_CACHE_HOME:-} in /*) ;; *) XDG_CACHE_HOME=$HOME/.cache ;; esac
cache=$XDG_CACHE_HOME/edge-mcp/tools
# Other options are another program.
bin=$cache/$crate-$version$(printf %s "$*" | tr -c 'a-z0-9' -)/bin

say() { echo "$crate $version: $*" >&2; }

# Shows the progress of cargo: on a terminal in one line, otherwise at most once in 30 s. cargo writes `57/230: ` before each of its messages.
progress() {
  reported=$(date +%s)
  while IFS= read -r message; do
    count=${message%: *} count=${count##* }
    case $count in [0-9]*/[0-9]*) ;; *) continue ;; esac
    if [ -t 2 ]; then
      printf '\r%s %s: compiling %s' "$crate" "$version" "$count" >&2
    elif [ $(($(date +%s) - reported)) -ge 30 ]; then
      reported=$(date +%s)
      say "compiling $count"
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

if [ ! -x "$bin/$program" ]; then
  # Each run installs in its own folder, and then moves the complete program. So two runs at the same time do not disturb each other.
  begun=$(date +%s)
  mkdir -p "$bin"
  work=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  if command -v cargo-binstall >/dev/null; then
    say "asking cargo binstall for a program that the project itself has built"
    cargo binstall --no-confirm --locked --disable-strategies compile,quick-install --root "$work" "$crate@$version" >"$work/log" 2>&1 || :
    # A prebuilt program may need other libraries than this machine has.
    "$work/bin/$program" --version >/dev/null 2>&1 || rm -rf "$work/bin"
  fi
  if [ ! -x "$work/bin/$program" ]; then
    say "compiling, once for all servers on this machine (about a minute on two cores)"
    # Without optimization, cargo takes a third of the time. The programs run for only half a second.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
      CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=80 CARGO_TERM_COLOR=never \
      cargo install --locked --root "$work" --target-dir "$work/target" --bin "$program" "$@" "$crate@$version" 2>&1 |
      tee "$work/log" | progress
  fi
  if [ ! -x "$work/bin/$program" ]; then
    tr '\r' '\n' <"$work/log" | sed '/^ *Building \[/d' >&2
    say "the installation failed: see the messages of cargo above"
    exit 1
  fi
  mv -f "$work/bin/$program" "$bin/$program"
  say "installed in $(($(date +%s) - begun)) s"
fi
echo "$bin/$program"
