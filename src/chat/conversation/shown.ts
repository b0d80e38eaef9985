import { versionsIn } from '../../operations/versions.ts'
import type { Branch } from '../../ports/branch.ts'
import type { OutgoingMessage, RememberedFact } from '../homes/home.ts'
import type { RememberedChip, ShownMessage } from '../ports.ts'
import type { Run } from './pages.ts'

const NO_CHIPS: readonly RememberedChip[] = []

export interface ShownParts {
  readonly run: Run
  readonly branches: readonly Branch[]
  readonly facts: readonly RememberedFact[]
  readonly outgoing: readonly OutgoingMessage[]
}

/**
 * What is on the screen, in order. Messages of which nothing changed are the same objects as
 * before.
 */
export function shownMessages(
  { run, branches, facts, outgoing }: ShownParts,
  before: readonly ShownMessage[],
): readonly ShownMessage[] {
  const known = new Map(before.map((shown) => [shown.message.id, shown]))
  const versions = versionsIn(run.messages, branches, !run.hasOlder)
  const chips = chipsOf(run, facts)
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
  return [...sent, ...queued].map((shown) => {
    const old = known.get(shown.message.id)
    return old && isSame(old, shown) ? old : shown
  })
}

/** Each fact at the newest message that it came from. */
function chipsOf(
  { messages }: Run,
  facts: readonly RememberedFact[],
): ReadonlyMap<string, readonly RememberedChip[]> {
  const places = new Map(messages.map(({ id }, place) => [id, place]))
  const chips = new Map<string, RememberedChip[]>()
  for (const { id, text, sources } of facts) {
    const place = Math.max(-1, ...sources.map((source) => places.get(source) ?? -1))
    const message = messages[place]
    if (!message) continue
    const some = chips.get(message.id) ?? []
    some.push({ factId: id, text })
    chips.set(message.id, some)
  }
  return chips
}

function isSame(one: ShownMessage, other: ShownMessage): boolean {
  return (
    one.delivery === other.delivery &&
    one.problem?.code === other.problem?.code &&
    one.version?.index === other.version?.index &&
    one.version?.count === other.version?.count &&
    one.remembered.length === other.remembered.length &&
    one.remembered.every(({ factId }, index) => factId === other.remembered[index]?.factId) &&
    // A message never changes, but for being forgotten: then it shows no more.
    (other.delivery === 'sent' || one.message.content === other.message.content)
  )
}
