// Tests of scripts/lib/group.sh: the processes of a script end with the script.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const LIB = new URL('../../../scripts/lib/', import.meta.url).pathname

/** Returns the ids of the processes whose command line contains the text. */
const processes = (text) => readdirSync('/proc').filter((id) => {
  try {
    return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(text)
  } catch {
    // The process has ended.
    return false
  }
})

/** Starts a script that starts a process, sends the signal to the script or to its group, and waits until all processes have ended. */
async function ends(signal, send) {
  // The sleep is the only process with this argument.
  const seconds = `${1000 + Math.floor(Math.random() * 1e6)}.${process.pid}`
  const code = `set -e; source ${LIB}common.sh; source ${LIB}group.sh; end_groups_on_exit; start sleep ${seconds}; echo started; wait "$started"`
  const script = spawn('bash', ['-c', code], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(script.stdout, 'data')
  assert.ok(processes(seconds).length >= 2)
  const ended = once(script, 'exit')
  send(script.pid, signal)
  await ended
  for (let tries = 0; processes(seconds).length > 0; tries++) {
    assert.ok(tries < 500, `${signal} leaves processes`)
    await sleep(20)
  }
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL']) {
  test(`${signal} for the group of a script ends all its processes`, () => ends(signal, (pid) => process.kill(-pid, signal)))
}
test('SIGTERM for the script alone ends all its processes', () => ends('SIGTERM', (pid) => process.kill(pid, 'SIGTERM')))
test('SIGKILL for the script alone ends all its processes', () => ends('SIGKILL', (pid) => process.kill(pid, 'SIGKILL')))
