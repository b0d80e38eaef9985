import { type Envelope, idIn, type Name } from '../ports/op.ts'

/** What ops name: what a store reads before it decides. */
export interface Named {
  readonly allOps: readonly string[]
  /** Ids of ops that have a name of their own. */
  readonly ops: readonly string[]
  /** Ids of entries that may be one with an op of the batch. */
  readonly whole: readonly string[]
  /** Ids of entries. */
  readonly entries: readonly string[]
  /** Keys of registers. */
  readonly keys: readonly string[]
  /** Entries, registers and targets. Where an op deletes, what derives from them is looked for. */
  readonly names: readonly Name[]
  readonly deletes: boolean
  readonly sources: readonly Name[]
}

export function namedBy(envelopes: readonly Envelope[]): Named {
  const targets = envelopes.flatMap(({ target }) => target ?? [])
  const opIds = envelopes.map(({ opId }) => opId)
  const ids = envelopes.flatMap(({ kind, ids, round }) =>
    [...(kind === 'put' ? [] : ids), round ?? []].flat(),
  )
  const keys = envelopes.flatMap(({ key }) => key ?? [])
  const names = [
    ...ids.map((id): Name => `entry:${id}`),
    ...keys.map((key): Name => `register:${key}`),
    ...targets,
  ]
  return {
    allOps: opIds,
    ops: opIds.filter((opId) => entryOf(opId) === undefined),
    whole: opIds.flatMap((opId) => entryOf(opId) ?? []),
    entries: idsIn('entry', names),
    keys: idsIn('register', names),
    names,
    deletes: targets.length > 0,
    sources: envelopes.flatMap(({ sources }) => sources ?? []),
  }
}

/** The ids or keys among names of one space. */
export function idsIn(space: 'entry' | 'register' | 'attachment', names: Iterable<Name>): string[] {
  return Array.from(names).flatMap((name) => idIn(space, name) ?? [])
}

/** Id of the entry that is one thing with an op of that id. */
function entryOf(opId: string): string | undefined {
  return idIn('entry', opId as Name)
}
