# Runs commands that need root. Source this file after common.sh.
# shellcheck shell=bash

# The prefix of a command that needs root: empty for root, `sudo` for other users.
root=()

# ask_for_root COMMAND… -> asks for permission to run the command with sudo, unless the user is root.
ask_for_root() {
  local answer
  ((EUID != 0)) || return 0
  command -v sudo >/dev/null || die "this command needs root, and sudo is missing: $*"
  [[ -t 0 ]] || die "there is no terminal to ask on: run \`sudo $*\` yourself, and then run this script again"
  read -r -p "Run sudo $* ? [y/N] " answer
  [[ $answer == [yY]* ]] || die "stopped, because this command is required: sudo $*"
  root=(sudo)
}

# as_root COMMAND… -> runs the command as root, and prints its output only if it fails. Call ask_for_root first.
as_root() {
  ${root[@]+"${root[@]}"} "$@" >"$TOOLS/root.log" 2>&1 || { cat "$TOOLS/root.log" >&2 && die "failed: $*"; }
}
