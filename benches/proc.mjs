// Reads the CPU time, the memory and the cores of a process from /proc (Linux).

import { readdir, readFile } from 'node:fs/promises'

/** Returns the user and system CPU time of all threads of a process so far, in microseconds. */
export async function cpuMicros(pid) {
  const threads = await readdir(`/proc/${pid}/task`)
  // schedstat counts nanoseconds, but /proc/PID/stat counts ticks of 10 ms. A thread may end before this code reads its file.
  const spent = await Promise.all(threads.map(async (thread) =>
    Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0])))
  return spent.reduce((sum, nanos) => sum + nanos, 0) / 1000
}

/** Returns the resident memory of a process, in KiB. */
export async function residentKib(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1])
}

/** Returns the numbers of the cores that this process may run on. */
export async function cores() {
  const [, list] = /^Cpus_allowed_list:\s+(\S+)$/m.exec(await readFile('/proc/self/status', 'utf8'))
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
