# Commands that need root. Source it after common.sh.
# shellcheck shell=bash

# What goes before such a command: nothing for root, `sudo` for others.
root=()

# ask_for_root COMMAND… -> who is not root is asked before sudo is used for it.
ask_for_root() {
  local answer
  ((EUID != 0)) || return 0
  command -v sudo >/dev/null || die "this needs root, and there is no sudo here: $*"
  [[ -t 0 ]] || die "this needs root, and there is no terminal to ask on. Run it yourself, then this again: sudo $*"
  read -r -p "May I run: sudo $* ? [y/N] " answer
  [[ $answer == [yY]* ]] || die "stopped: that is needed"
  root=(sudo)
}

# as_root COMMAND… -> what it prints is shown only where it fails. Ask first.
as_root() {
  ${root[@]+"${root[@]}"} "$@" >"$TOOLS/root.log" 2>&1 || { cat "$TOOLS/root.log" >&2 && die "failed: $*"; }
}
