import { decide } from '../../../src/kernel/log/decide.ts'
import { factKey } from '../../../src/features/facts/fact.ts'
import { type Fact } from '../../../src/ports/fact.ts'
import { indexOf } from '../../../src/features/facts/fact-index.ts'
import { Facts } from '../../../src/features/facts/facts.ts'
import { readSettings } from '../../../src/operations/settings.ts'
import { Skills } from '../../../src/features/skills/skills.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { type StartParts, startSession } from '../../../src/operations/start/start.ts'
import { factTokens } from '../../../src/features/facts/fact-item.ts'
import { skillTokens } from '../../../src/features/skills/skill-item.ts'
import { type RecalledItem, type SkillItem } from '../../../src/ports/start.ts'
import type { StartOptions } from '../../../src/ports/start.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Counter } from '../../../src/ports/counter.ts'
import type { Host } from '../../../src/ports/host.ts'
import type { IndexEntry } from '../../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'

export const DAY = 86_400_000
/** 2026-11-22, at noon. */
export const NOON = 20_779.5 * DAY

export const COUNTED_BY_FOUR: Counter = {
  id: 'fours',
  kind: 'estimate',
  count: (text) => Math.ceil(text.length / 4),
}

const HOST: Host = { ...webHost, now: () => NOON }

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
  readonly recalled?: readonly RecalledItem[]
}

/** What a start is made from, over a store that holds this much. */
export async function partsOf(
  { user = [], session = [], skills = [], recalled }: Remembered,
  counter: Counter,
  store: Store = mapStore(),
): Promise<StartParts> {
  const own = store.open({ userId: 'ada' })
  const one = store.open({ userId: 'ada', sessionId: 'trip' })
  await put(
    own,
    user.map((each) => entryOf(each, counter)),
  )
  await put(
    one,
    session.map((each) => entryOf(each, counter)),
  )
  await put(
    own,
    skills.map((skill) => ({
      key: `skill/${skill.name}`,
      value: { ...skill, textVersion: 'first' },
      index: [{ group: 'skill', order: skill.name, weight: skillTokens(counter, skill) }],
    })),
  )
  return partsOver(own, one, counter, recalled)
}

export function partsOver(
  own: ScopeStore,
  session: ScopeStore,
  counter: Counter,
  recalled?: readonly RecalledItem[],
): StartParts {
  return {
    facts: [own, session].map((store) => ({
      facts: new Facts({
        store,
        host: HOST,
        tokensOf: (one) => factTokens(counter, one),
        trustOf: async () => undefined,
      }),
      sums: (groups) => store.sums(groups),
    })),
    skills: new Skills({ store: own, host: HOST, tokensOf: (skill) => skillTokens(counter, skill) }),
    sums: (groups) => own.sums(groups),
    settings: () => readSettings(own, HOST),
    counter,
    ...(recalled && { recall: async (_, first) => recalled.slice(0, first) }),
    host: HOST,
  }
}

/** The start of a memory that holds this much. */
export async function start(remembered: Remembered, options: StartOptions = {}, counter = COUNTED_BY_FOUR) {
  const found = await startSession(await partsOf(remembered, counter), options)
  if (!found) throw new Error('unchanged')
  return found
}

interface Entry {
  readonly key: string
  readonly value: object
  readonly index: readonly IndexEntry[]
}

export function entryOf(one: Fact, counter: Counter): Entry {
  return { key: factKey(one.id), value: one, index: indexOf(one, factTokens(counter, one), []) }
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
