# Child processes that end with the script: each long-running command gets a process group of its
# own, because wrangler passes no signal on to the processes that it starts.
# Source it after common.sh.
# shellcheck shell=bash

groups=()
# Files to delete at the end, however it comes.
temporary=()

# start COMMAND… -> runs it in the background in its own group; its id is in $started.
# It reads nothing: only the group in the foreground may read from a terminal.
start() {
  set -m
  "$@" </dev/null &
  started=$!
  set +m
  groups+=("$started")
}

# run COMMAND… -> runs it to its end, and gives its status. Unlike a plain call, a signal to the
# script is acted on at once and not after the command.
run() {
  start "$@"
  local id=$started status=0
  wait "$id" || status=$?
  unset 'groups[-1]'
  return "$status"
}

# end_groups -> ends every group that still runs: asks, and after 5 s at most no longer asks.
end_groups() {
  local id tries
  for id in ${groups[@]+"${groups[@]}"}; do kill -TERM -- "-$id" 2>/dev/null || true; done
  for id in ${groups[@]+"${groups[@]}"}; do
    for ((tries = 0; tries < 50; tries++)); do
      kill -0 "$id" 2>/dev/null || break
      sleep 0.1
    done
    # Also where the first of the group has ended: what it started need not have.
    kill -KILL -- "-$id" 2>/dev/null || true
    # Collects its status, so that the shell has nothing to say about it.
    wait "$id" 2>/dev/null || true
  done
  groups=()
}

# Ctrl-C, a kill, a closed terminal and an ordinary end all come by here once.
end_groups_on_exit() {
  trap 'status=$?; trap "" INT TERM HUP; end_groups; rm -f ${temporary[@]+"${temporary[@]}"}; exit "$status"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
}
