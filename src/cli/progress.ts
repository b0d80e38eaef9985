import type { Io } from './io.ts'

const WIDTH = 30
/** Milliseconds between two drawings, and before the first: short runs stay quiet. */
const PAUSE = 200

export interface Progress {
  /** Contract: `done` grows from 0 to the total. */
  show(done: number, note: string): void
  clear(): void
}

/** A bar on standard error that draws over itself; silent when nobody watches. */
export function startProgress(io: Io, total: number, now: () => number = Date.now): Progress {
  const columns = io.columns.err
  if (columns === undefined || total === 0) return { show: () => {}, clear: () => {} }
  let last = now()
  return {
    show: (done, note) => {
      if (now() - last < PAUSE) return
      last = now()
      const filled = Math.min(WIDTH, Math.floor((done / total) * WIDTH))
      io.err(`\r\u001b[K${`${'━'.repeat(filled).padEnd(WIDTH, '─')} ${note}`.slice(0, columns - 1)}`)
    },
    clear: () => io.err('\r\u001b[K'),
  }
}
