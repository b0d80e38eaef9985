import { slotOf } from '../kernel/log/decide.ts'
import { type Envelope, idIn, type Name } from '../ports/op.ts'
import { hasBody, type LogRow, type RegisterRow } from '../ports/store.ts'
import { entryEnvelope, opsIn } from './pulled.ts'
import type { Waiting } from './state.ts'

/**
 * The ops that wrote a log, as if they all waited: so what a home has lost, or never knew, is sent
 * to it. Of a put that was written over only the name is left, of an erase nothing.
 *
 * @param rows all of the log up to a seq, in order
 * @param registers those that its puts and deletes wrote, by key, as they are now or, where
 * something that waits has written over them, as they were before
 */
export function recoveredFrom(
  rows: readonly LogRow[],
  registers: ReadonlyMap<string, RegisterRow>,
): readonly Waiting[] {
  const versions = new Map<string, string>()
  const keys = new Set<string>()
  const slots = new Set<string>()
  return opsIn(rows).flatMap((op): Waiting[] => {
    const [row] = op as [LogRow]
    const { kind, id, opId, seq, chain, lane } = row
    if (kind === 'erase') return []
    const { ordinal } = op.at(-1) ?? row
    const done = (envelope: Envelope, more: Partial<Waiting> = {}): Waiting[] => {
      const { key, target, mark } = envelope
      const beside = besideOf(opId, key, registers)
      const own = key ?? (target && idIn('register', target))
      const written = [...(own === undefined ? [] : [own]), ...beside.map((one) => one.key)]
      const slot = chain === undefined ? undefined : slotOf(mark, lane)
      const before = {
        registers: firstOf(written, keys).map((one) => [one, null] as const),
        marks: firstOf(slot === undefined ? [] : [slot], slots).map((one) => [one, null] as const),
      }
      return [
        {
          order: 0,
          seq,
          ordinal,
          envelope,
          ...(chain !== undefined && { chain }),
          ...(beside.length > 0 && { beside }),
          ...more,
          ...(before.registers.length + before.marks.length > 0 && { before }),
        },
      ]
    }
    if (kind === 'put') {
      const register = registers.get(id)
      const isCurrent = register?.version === opId
      const base = versions.get(id) ?? null
      versions.set(id, opId)
      const { sources: from, index, body } = register ?? { body: null }
      const listed = isCurrent ? { ...(from && { sources: from }), ...(index && { index }) } : {}
      return done(
        { opId, kind: 'put', ids: [id], key: id, base, ...listed },
        {
          bodies: [isCurrent ? body : null],
          ...(!(register && hasBody(register)) && { emptied: [`register:${id}` as const] }),
        },
      )
    }
    if (kind === 'delete') {
      const target = id as Name
      const key = idIn('register', target)
      if (key !== undefined && versions.has(key)) versions.set(key, opId)
      return done({ opId, kind: 'delete', ids: [], target }, { emptied: [target] })
    }
    const gone = op.flatMap((one): Name[] => (hasBody(one) ? [] : [`entry:${one.id}`]))
    return done(entryEnvelope(op, 0), gone.length > 0 ? { emptied: gone } : {})
  })
}

/** Those that are not known yet, and are from now on. */
function firstOf(names: readonly string[], known: Set<string>): readonly string[] {
  const first = names.filter((name) => !known.has(name))
  for (const name of first) known.add(name)
  return first
}

/** Registers that were written beside an op, and are still as it left them. */
function besideOf(opId: string, own: string | undefined, registers: ReadonlyMap<string, RegisterRow>) {
  return [...registers.values()].flatMap(({ key, version, body }) =>
    version === opId && key !== own && body !== null ? [{ key, body }] : [],
  )
}
