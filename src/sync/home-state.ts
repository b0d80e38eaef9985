import { PlimsollError } from '../ports/errors.ts'
import type { Decision, ReplicaChange, Rows, ScopeStore } from '../ports/store.ts'
import type { Confirmations } from '../ports/sync.ts'

/** What a home knows of itself. */
export interface HomeState extends Confirmations {
  /** Of the log as it is: another one after each erase. */
  readonly generation: string
  /** Seq of the erase with which it began; 0: none. Replicas count from there. */
  readonly since: number
  /** Generations that were erased. */
  readonly erased: readonly string[]
}

/** Number of the row of the outbox that holds the state too: a home sends nothing itself. */
export const STATE_ROW = 1

/** Most replicas that are known: those that confirmed last. */
const MOST_REPLICAS = 64

export function written(state: HomeState): ReplicaChange {
  const value = JSON.stringify(state)
  return { state: value, outbox: [{ order: STATE_ROW, value }] }
}

/** The state of a home once it emptied something, where any replica is known. */
export function afterEmptied(
  before: HomeState | undefined,
  { erase, emptied, log }: Decision,
): HomeState | undefined {
  const last = log.at(-1)
  if (!before?.replicas || erase || emptied.length === 0 || !last) return undefined
  return { ...before, emptiedAt: last.seq - before.since }
}

/** What is known of replicas once all was erased: none has confirmed that. */
export function afterErase({ replicas }: HomeState): Confirmations {
  return replicas ? { replicas: replicas.map(({ name }) => ({ name, seq: -1 })), emptiedAt: 0 } : {}
}

/** Notes that a replica has all of the log up to a seq, where that says anything new. */
export function confirmedBy(
  { replica }: Pick<Rows, 'replica'>,
  generation: string,
  name: string,
  seq: number,
): HomeState | undefined {
  const state = homeStateIn(replica)
  if (state?.generation !== generation || !isNews(state, name, seq)) return undefined
  const others = (state.replicas ?? []).filter((one) => one.name !== name)
  return { ...state, replicas: [...others.slice(1 - MOST_REPLICAS), { name, seq }] }
}

export function isNews({ replicas = [], emptiedAt = 0 }: Confirmations, name: string, seq: number): boolean {
  const known = replicas.find((one) => one.name === name)
  return !known || (known.seq < emptiedAt && seq >= emptiedAt)
}

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
