// What Linux tells of a process.

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'

const TICK_MICROS = () => 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
let tick

/** The time that all its threads have computed so far, in the program and in the kernel, in microseconds. */
export async function cpuMicros(pid) {
  tick ??= TICK_MICROS()
  // The second field is the program's name, in brackets, which may hold anything.
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tick
}

/** The memory that it has, in KiB. */
export async function residentKib(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1])
}

/** The cores that this process may run on. */
export async function cores() {
  const [, list] = /^Cpus_allowed_list:\s+(\S+)$/m.exec(await readFile('/proc/self/status', 'utf8'))
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
