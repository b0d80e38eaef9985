import { readdirSync, readFileSync } from 'node:fs'

const NS_PER_MS = 1e6

/**
 * CPU time of a process so far, in milliseconds: of the threads that it has. `undefined` where the
 * system does not tell.
 */
export function cpuTime(pid: number | undefined): number | undefined {
  const threads = `/proc/${pid}/task`
  try {
    // To the nanosecond, where `stat` counts in hundredths of a second.
    return readdirSync(threads)
      .map(
        (thread) => Number(readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ')[0]) / NS_PER_MS,
      )
      .reduce((sum, ms) => sum + ms, 0)
  } catch {
    return undefined
  }
}
