import { execFileSync } from 'node:child_process'

const LOOK_MS = 250

/**
 * Calls back once when a process that this one depends on has ended: its parent, or one of
 * `others`. Nothing tells of that: a shell between two processes hands no signal on, and `kill -9`
 * lets nobody say goodbye.
 */
export function whenOrphaned(ended: () => void, others: readonly number[] = []): void {
  const { ppid } = process
  const timer = setInterval(() => {
    if (process.ppid === ppid && others.every(isAlive)) return
    clearInterval(timer)
    ended()
  }, LOOK_MS)
  timer.unref()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The npm that runs this script, by a shell; nothing where there is none, or no way to know. */
export function callingNpm(): readonly number[] {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return []
  try {
    const pid = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(process.ppid)], { encoding: 'utf8' }))
    return pid > 1 ? [pid] : []
  } catch {
    // Not every system has `ps`.
    return []
  }
}
