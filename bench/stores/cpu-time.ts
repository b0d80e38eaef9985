import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever its clock does. */
const TICK_MS = 10

/**
 * CPU time of a process so far, user and system, in milliseconds; `undefined` where the system does
 * not tell.
 */
export function cpuTime(pid: number | undefined): number | undefined {
  try {
    // The name, in brackets, may hold spaces.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(11, 13).map(Number)
    return user === undefined || system === undefined ? undefined : (user + system) * TICK_MS
  } catch {
    return undefined
  }
}
