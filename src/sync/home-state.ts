import { PlimsollError } from '../ports/errors.ts'
import type { ScopeStore } from '../ports/store.ts'

/** What a home knows of itself. */
export interface HomeState {
  /** Of the log as it is: another one after each erase. */
  readonly generation: string
  /** Seq of the erase with which it began; 0: none. Replicas count from there. */
  readonly since: number
  /** Generations that were erased. */
  readonly erased: readonly string[]
}

/** Number of the row of the outbox that holds the state too: a home sends nothing itself. */
export const STATE_ROW = 1

/** The state of a home. @returns nothing, where it has none yet */
export function homeStateIn(text: string | undefined): HomeState | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as HomeState)
}

/** Reads state without a transaction, which would tell others of a change. */
export async function readState(scope: ScopeStore): Promise<HomeState | undefined> {
  if (!scope.outbox) throw new PlimsollError('ERR_NOT_CONFIGURED', 'sync: the store cannot be a home')
  const rows = await scope.outbox(0)
  return homeStateIn(rows.find(({ order }) => order === STATE_ROW)?.value)
}
