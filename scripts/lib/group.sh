# Ends the child processes of a script when the script ends. Each long-running command runs in a separate process group, because wrangler
# does not forward signals to the processes that it starts.
# Source this file after common.sh.
# shellcheck shell=bash

groups=()
# The processes of end_with_script, which have groups of their own too.
guards=()
# Files and folders to delete when the script ends, also after a signal.
temporary=()

# start COMMAND… -> runs the command in the background in a new process group, and stores its id in $started.
# The command does not get any input, because only the group in the foreground may read from a terminal.
start() {
  set -m
  "$@" </dev/null &
  started=$!
  end_with_script "$started" >/dev/null 2>&1 </dev/null &
  guards+=("$!")
  set +m
  groups+=("$started")
}

# end_with_script ID -> ends the group if the script ends without ending it. A trap does not see that somebody kills the script with SIGKILL.
end_with_script() {
  while kill -0 -- "-$1" 2>/dev/null; do
    kill -0 "$$" 2>/dev/null || { kill -KILL -- "-$1" && break; }
    sleep 0.5
  done
}

# run COMMAND… -> runs the command to its end and returns its status. Unlike with a plain call, the script handles a signal at once, not
# after the command.
run() {
  start "$@"
  local id=$started status=0
  wait "$id" || status=$?
  unset 'groups[-1]'
  return "$status"
}

# end_groups -> ends every group that still runs: sends SIGTERM, waits at most 5 s for each group, and sends SIGKILL.
end_groups() {
  local id tries
  for id in ${groups[@]+"${groups[@]}"}; do kill -TERM -- "-$id" 2>/dev/null || true; done
  for id in ${groups[@]+"${groups[@]}"}; do
    for ((tries = 0; tries < 50; tries++)); do
      kill -0 "$id" 2>/dev/null || break
      sleep 0.1
    done
    # The first process of the group may have ended while its child processes still run.
    kill -KILL -- "-$id" 2>/dev/null || true
    # Collect the status, so that the shell does not print a message about the killed process.
    wait "$id" 2>/dev/null || true
  done
  for id in ${guards[@]+"${guards[@]}"}; do
    kill -KILL -- "-$id" 2>/dev/null || true
    wait "$id" 2>/dev/null || true
  done
  groups=() guards=()
}

# end_groups_on_exit -> calls end_groups once when the script ends: normally, by Ctrl-C, by SIGTERM, or because the terminal closes
end_groups_on_exit() {
  trap 'status=$?; trap "" INT TERM HUP; end_groups; rm -rf ${temporary[@]+"${temporary[@]}"}; exit "$status"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
}
