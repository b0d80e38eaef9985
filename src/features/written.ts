import type { IndexEntry } from '../ports/op.ts'
import type { RegisterRow } from '../ports/store.ts'

/** Group that says when a register was written; it is in no list and no sum, so it takes no row. */
const WRITTEN = 'written/'

/** Says in a register's envelope when it is written. */
export function writtenAt(now: number): IndexEntry {
  return { group: `${WRITTEN}${now}` }
}

/** When it was written, Unix milliseconds, where it says so. */
export function writtenIn({ index = [] }: RegisterRow): number | undefined {
  const entry = index.find(({ group }) => group.startsWith(WRITTEN))
  return entry && Number(entry.group.slice(WRITTEN.length))
}
