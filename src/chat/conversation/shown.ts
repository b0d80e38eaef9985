import { type Version, versionsIn } from '../../operations/versions.ts'
import type { Branch } from '../../ports/branch.ts'
import type { OutgoingMessage, RememberedFact } from '../homes/home.ts'
import type { RememberedChip, ShownMessage } from '../ports.ts'
import type { Run } from './pages.ts'

const NO_CHIPS: readonly RememberedChip[] = []

export interface ShownParts {
  readonly run: Run
  readonly branches: readonly Branch[]
  readonly facts: readonly RememberedFact[]
  /** Facts that are forgotten while this shows, by their ids. */
  readonly undone: ReadonlyMap<string, Undone>
  readonly outgoing: readonly OutgoingMessage[]
}

/** A fact and how far its undo is; without its text once that is done. */
export interface Undone extends RememberedFact {
  readonly undo: 'begun' | 'done'
}

/**
 * What is on the screen, in order. Messages of which nothing changed are the same objects as
 * before.
 */
export function shownMessages(parts: ShownParts, before: readonly ShownMessage[]): readonly ShownMessage[] {
  const { run, branches, outgoing } = parts
  const known = new Map(before.map((shown) => [shown.message.id, shown]))
  const versions = versionsIn(run.messages, branches, !run.hasOlder)
  const chips = chipsOf(parts, versions)
  const there = new Set(run.messages.map(({ id }) => id))
  const sent = run.messages.map((message): ShownMessage => {
    const version = versions.get(message.id)
    return {
      message,
      delivery: message.delivery === 'local' ? 'queued' : 'sent',
      remembered: chips.get(message.id) ?? NO_CHIPS,
      ...(version && { version: { index: version.index, count: version.count } }),
    }
  })
  const queued = outgoing
    .filter(({ id }) => !there.has(id))
    .map(({ id, text, createdAt, problem }): ShownMessage => {
      const message = { id, role: 'user', content: text, createdAt, trust: 'user' } as const
      return {
        message,
        delivery: problem ? 'failed' : 'queued',
        remembered: NO_CHIPS,
        ...(problem && { problem }),
      }
    })
  const now = [...sent, ...queued].map((shown) => {
    const old = known.get(shown.message.id)
    return old && isSame(old, shown) ? old : shown
  })
  return now.length === before.length && now.every((shown, place) => shown === before[place]) ? before : now
}

/** Each fact at the newest message that it came from, or at another version of that. */
function chipsOf(
  { run: { messages }, facts, undone }: ShownParts,
  versions: ReadonlyMap<string, Version>,
): ReadonlyMap<string, readonly RememberedChip[]> {
  const places = new Map(messages.map(({ id }, place) => [id, place]))
  for (const [id, { versions: all }] of versions)
    for (const one of all) if (!places.has(one)) places.set(one, places.get(id) as number)
  const chips = new Map<string, RememberedChip[]>()
  const add = ({ id, text, trust, sources, undo }: RememberedFact & Partial<Undone>): void => {
    const place = Math.max(-1, ...sources.map((source) => places.get(source) ?? -1))
    const message = messages[place]
    if (!message) return
    const some = chips.get(message.id) ?? []
    const shown = messages.filter((one) => sources.includes(one.id))
    const said = (shown.findLast(({ role }) => role === 'user') ?? shown.at(-1))?.id
    some.push({ factId: id, text, trust, ...(said && { said }), ...(undo && { undo }) })
    chips.set(message.id, some)
  }
  for (const fact of facts) if (!undone.has(fact.id)) add(fact)
  for (const fact of undone.values()) add(fact)
  return chips
}

function isSame(one: ShownMessage, other: ShownMessage): boolean {
  return (
    one.delivery === other.delivery &&
    one.problem?.code === other.problem?.code &&
    one.version?.index === other.version?.index &&
    one.version?.count === other.version?.count &&
    JSON.stringify(one.remembered) === JSON.stringify(other.remembered) &&
    // A message never changes, but for being forgotten: then it shows no more.
    (other.delivery === 'sent' || one.message.content === other.message.content)
  )
}
