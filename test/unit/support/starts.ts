import { createMemory } from '../../../src/create-memory.ts'
import { factKey } from '../../../src/features/facts/fact.ts'
import { indexOf } from '../../../src/features/facts/fact-index.ts'
import { factTokens } from '../../../src/features/facts/fact-item.ts'
import type { FactsShape } from '../../../src/features/facts/feature.ts'
import { UNTOLD_INDEX, untoldKey } from '../../../src/features/facts/kept.ts'
import type { SkillsShape } from '../../../src/features/skills/feature.ts'
import { skillTokens } from '../../../src/features/skills/skill-item.ts'
import { Findable } from '../../../src/features/slots.ts'
import { facts, skills } from '../../../src/index.ts'
import type { Feature } from '../../../src/kernel/feature.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { provide } from '../../../src/kernel/slot.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import type { Counter } from '../../../src/ports/counter.ts'
import type { Fact } from '../../../src/ports/fact.ts'
import type { Session } from '../../../src/ports/memory.ts'
import type { IndexEntry } from '../../../src/ports/op.ts'
import type { Recalled, RecallOptions } from '../../../src/ports/recall.ts'
import type { SkillItem, StartOptions } from '../../../src/ports/start.ts'
import type { ScopeStore, Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { ONE_SECRET } from '../../contract/full-memory.ts'

export const DAY = 86_400_000
/** 2026-11-22, at noon. */
export const NOON = 20_779.5 * DAY

export const COUNTED_BY_FOUR: Counter = {
  id: 'fours',
  kind: 'estimate',
  count: (text) => Math.ceil(text.length / 4),
}

/** What a query finds. */
export type Found = Pick<Recalled, 'id' | 'text' | 'trust'> &
  Partial<Pick<Recalled, 'role' | 'kind' | 'score'>>

/** A fact that holds, of which only what matters is given. */
export function fact(given: Partial<Fact> & Pick<Fact, 'id'>): Fact {
  return {
    kind: 'constraint',
    title: `Title of ${given.id}`,
    text: `Text of ${given.id}.`,
    pinned: true,
    priority: 5,
    confidence: 1,
    trust: 'user',
    sources: [],
    createdAt: NOON - DAY,
    reviewAt: NOON + 90 * DAY,
    ...given,
  }
}

export interface Remembered {
  readonly user?: readonly Fact[]
  readonly session?: readonly Fact[]
  readonly skills?: readonly SkillItem[]
  readonly recalled?: readonly Found[]
}

/** A session of a memory that holds this much. */
export async function sessionHolding(
  { user = [], session = [], skills = [], recalled }: Remembered,
  counter: Counter,
  store: Store = mapStore(),
): Promise<StartingSession> {
  const own = store.open({ userId: 'ada' })
  const one = store.open({ userId: 'ada', sessionId: 'trip' })
  await put(
    own,
    user.map((each) => entryOf(each, counter)),
  )
  await put(
    one,
    // As they are written: marked, so that the user's scope is told of them.
    session.flatMap((each) => {
      const entry = entryOf(each, counter)
      return [entry, { key: untoldKey(entry.key), value: {}, index: UNTOLD_INDEX }]
    }),
  )
  await put(
    own,
    skills.map((skill) => ({
      key: `skill/${skill.name}`,
      value: { ...skill, textVersion: 'first' },
      index: [{ group: 'skill', order: skill.name, weight: skillTokens(counter, skill) }],
    })),
  )
  return sessionOver(store, counter, recalled)
}

type StartingSession = Session<{ facts: FactsShape; skills: SkillsShape }>

/** @param recalled what any query finds; absent: there is no recall */
export function sessionOver(store: Store, counter: Counter, recalled?: readonly Found[]): StartingSession {
  const find = async (_: string, { first }: RecallOptions) =>
    (recalled ?? []).slice(0, first).map((one, rank) => ({ score: 64 - rank, ...one }) as Recalled)
  const finding: Feature<'finding', Record<never, never>> = {
    name: 'finding',
    open: () => ({ provides: recalled ? [provide(Findable, { find })] : [] }),
  }
  const use = [facts(), skills(), finding] as const
  const given = { store, counter, budget: 16_000, clock: () => NOON, newSecret: () => ONE_SECRET }
  return createMemory({ ...given, use }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
}

/** The start of a memory that holds this much. */
export async function start(remembered: Remembered, options: StartOptions = {}, counter = COUNTED_BY_FOUR) {
  const found = await startSession(await sessionHolding(remembered, counter), options)
  if (!found) throw new Error('unchanged')
  return found
}

interface Entry {
  readonly key: string
  readonly value: object
  readonly index: readonly IndexEntry[]
}

export function entryOf(one: Fact, counter: Counter): Entry {
  return { key: factKey(one.id), value: one, index: indexOf(one, factTokens(counter, one), [], counter.id) }
}

/** Writes registers as they are given, many at a time. */
export async function put(store: ScopeStore, entries: readonly Entry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += 1_000)
    await store.commit(
      entries
        .slice(from, from + 1_000)
        .map(({ key, value, index }) =>
          sealOp({ kind: 'put', opId: `put/${key}`, key, base: null, value: value as never, index }),
        ),
      decide,
    )
}
