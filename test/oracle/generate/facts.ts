/** Scenes of facts: remembered, changed, committed with messages, handed over, ended. */
import type { IfVersion, Ref } from '../commands.ts'
import type { Json } from '../json.ts'
import type { FactJson } from '../shapes.ts'
import { optionsFor } from './asking.ts'
import { type Course, HOUR, type Tab } from './course.ts'
import { messageOf } from './messages.ts'
import { stateOf } from './remembering.ts'
import type { Scene } from './scenes.ts'
import { factOf } from './texts.ts'

function refOf({ random }: Course, { conversation }: Tab): Ref {
  const name = random.late(conversation.facts, 6)
  if (name === undefined || random.chance(0.05)) return 'no-such-fact'
  return name.startsWith('fact') ? name : { ref: name }
}

/** A fact with sources, an id, an end, in part. */
function inputOf(course: Course, { conversation }: Tab): FactJson {
  const { random } = course
  const sources = [random.late(conversation.live, 10)?.id, random.late(conversation.live, 10)?.id]
  const known = random.late(
    conversation.facts.filter((name) => name.startsWith('fact')),
    4,
  )
  return {
    ...factOf(random),
    ...random.maybe(0.3, 'sources', () => [...new Set(sources.flatMap((id) => id ?? []))]),
    ...(known !== undefined && random.chance(0.08) && { sources: [`fact/${known}`] }),
    ...random.maybe(0.18, 'expiresAt', () => course.dayFrom(random.whole(-1, 3))),
    ...random.maybe(0.1, 'reviewAt', () => course.dayFrom(random.whole(-1, 5))),
    ...random.maybe(0.02, 'text', () => random.pick(['', 'x'.repeat(3_000)])),
  }
}

const remember: Scene = (course, tab) => {
  const { random } = course
  for (let times = random.whole(1, 4); times > 0; times--) {
    const id = random.chance(0.6) ? course.id('fact') : undefined
    const fact = { ...inputOf(course, tab), ...(id !== undefined && { id }) }
    const name = id ?? course.id('known')
    const opId = random.maybe(0.15, 'opId', () => course.id('op'))
    if (random.chance(0.85)) course.in(tab, { kind: 'remember', fact, as: name, ...opId })
    else course.in(tab, { kind: 'userRemember', fact, as: name })
    if (opId.opId !== undefined && random.chance(0.5)) course.in(tab, { kind: 'remember', fact, ...opId })
    tab.conversation.facts.push(name)
  }
  if (random.chance(0.7)) course.context(tab, optionsFor(course, tab))
}

const changeFact: Scene = (course, tab) => {
  const { random } = course
  if (tab.conversation.facts.length === 0) remember(course, tab)
  for (let changes = random.whole(1, 4); changes > 0; changes--) changeOne(course, tab)
  if (random.chance(0.7)) course.context(tab, { onPending: 'abandon' })
}

function changeOne(course: Course, tab: Tab): void {
  const { random } = course
  const id = refOf(course, tab)
  random.weighted([
    [3, () => course.in(tab, { kind: 'pin', id })],
    [2, () => course.in(tab, { kind: 'unpin', id })],
    [
      3,
      () => course.in(tab, { kind: 'promote', id, ...random.maybe(0.6, 'pinned', () => random.chance(0.8)) }),
    ],
    [
      2,
      () =>
        course.in(tab, { kind: 'review', id, rating: random.pick(['again', 'hard', 'good', 'easy', 'bad']) }),
    ],
    [2, () => course.in(tab, { kind: 'forget', id, ...random.maybe(0.5, 'what', () => 'fact' as const) })],
    [
      3,
      () => {
        const name = course.id('known')
        course.in(tab, { kind: 'supersede', id, fact: inputOf(course, tab), as: name })
        tab.conversation.facts.push(name)
      },
    ],
    [
      2,
      () => {
        const blocker = course.id('fact')
        course.in(tab, { kind: 'remember', fact: { ...factOf(random), kind: 'blocker', id: blocker } })
        if (random.chance(0.5)) course.context(tab, { onPending: 'abandon' })
        course.in(tab, { kind: 'resolve', id: blocker })
      },
    ],
    [
      2,
      () => {
        const shared = course.id('fact')
        const kind = random.pick(['preference', 'constraint'])
        course.in(tab, {
          kind: 'userRemember',
          fact: { kind, text: String(factOf(random).text), id: shared },
        })
        if (random.chance(0.5)) course.context(tab, { onPending: 'abandon' })
        if (random.chance(0.5)) course.in(tab, { kind: 'userForget', id: shared })
        else tab.conversation.facts.push(shared)
      },
    ],
  ])()
}

const lookAtFacts: Scene = (course, tab) => {
  const { random } = course
  const query: { readonly [name: string]: Json } = {
    ...random.maybe(0.3, 'kinds', () => [random.pick(['finding', 'blocker', 'preference'])]),
    ...random.maybe(0.3, 'project', () => random.pick(['rail', 'sea'])),
    ...random.maybe(0.3, 'all', () => true),
    ...random.maybe(0.3, 'first', () => random.whole(0, 4)),
  }
  course.in(tab, random.chance(0.6) ? { kind: 'facts', query } : { kind: 'userFacts', query })
  if (random.chance(0.4)) course.in(tab, { kind: 'fact', id: refOf(course, tab) })
}

/** Messages, the checkpoint and facts together. */
const commit: Scene = (course, tab) => {
  const { random } = course
  const messages = Array.from({ length: random.whole(0, 2) }, () =>
    messageOf(course, tab, random.chance(0.5) ? 'user' : 'assistant'),
  )
  const facts = Array.from({ length: random.whole(0, 2) }, () => ({
    ...inputOf(course, tab),
    ...random.maybe(0.5, 'id', () => course.id('fact')),
    ...(messages[0]?.id !== undefined && random.chance(0.4) && { sources: [messages[0].id] }),
  }))
  const command = {
    kind: 'commit',
    ...(messages.length > 0 && { messages }),
    ...(facts.length > 0 && { facts }),
    ...random.maybe(0.6, 'checkpoint', () => stateOf(course)),
    ...random.maybe(0.15, 'ifVersion', (): IfVersion => random.pick(['current', 'stale', 'none'])),
    ...random.maybe(0.3, 'opId', () => course.id('op')),
  } as const
  course.in(tab, command)
  course.noteSaid(tab, messages)
  if (command.opId !== undefined && random.chance(0.6)) course.in(tab, command)
  tab.conversation.facts.push(...facts.flatMap(({ id }) => id ?? []))
  course.context(tab, { onPending: 'abandon' })
}

/** What shows until a day, and what is kept for so many days: pinned or not. */
const ending: Scene = (course, tab) => {
  const { random } = course
  for (let facts = random.whole(1, 3); facts > 0; facts--) {
    const id = course.id('fact')
    const fact = { ...factOf(random), id, trust: 'user', pinned: random.chance(0.5) }
    course.in(tab, {
      kind: 'remember',
      fact: { ...fact, ...random.maybe(0.6, 'expiresAt', () => course.dayFrom(random.whole(1, 2))) },
    })
    tab.conversation.facts.push(id)
  }
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.8, 'newEpoch', () => true) })
  course.advance(random.pick([14, 26, 50, 80]) * HOUR)
  if (random.chance(0.5)) course.in(tab, { kind: 'runDueWork' })
  course.context(tab, { onPending: 'abandon' })
}

/** What the user said is the user's: while it is handed over, others write, or the store fails. */
const handOver: Scene = (course, tab) => {
  const { random } = course
  const id = course.id('fact')
  const fact = { ...factOf(random), kind: 'preference', trust: 'user', pinned: false, id }
  const other = course.rival(tab)
  random.pick([
    () =>
      course.add({
        kind: 'fail',
        calls: 'commits',
        scope: 'user',
        op: 'put',
        ...random.maybe(0.5, 'how', () => 'after' as const),
      }),
    () => {
      const commands = [{ kind: 'forget', tab: other.name, id, what: 'fact' } as const]
      course.add({ kind: 'race', at: 'put', scope: 'user', commands })
    },
  ])()
  course.in(tab, { kind: 'commit', facts: [fact] })
  tab.conversation.facts.push(id)
  if (random.chance(0.6)) course.context(tab, { preview: true, onPending: 'abandon' })
  course.context(random.chance(0.5) ? tab : other, { onPending: 'abandon' })
}

/**
 * A fact that sessions of one user show, and that one of them ends, or that others do beside them.
 */
const share: Scene = (course, tab) => {
  const { random } = course
  const { configuration, session } = tab
  const other =
    course.tabs.find(({ conversation, store, user }) => {
      return conversation !== tab.conversation && store === tab.store && user === tab.user
    }) ??
    course.open({ configuration, session: session === 'home' ? 'trip' : 'home', memory: course.tabs.length })
  const id = course.id('fact')
  const fact = { ...factOf(random), kind: random.pick(['preference', 'constraint']), trust: 'user', id }
  course.in(tab, { kind: 'remember', fact })
  tab.conversation.facts.push(id)
  for (const one of [tab, other]) {
    course.append(one, [messageOf(course, one, 'user')])
    course.context(one, { newEpoch: true, onPending: 'abandon' })
  }
  random.weighted([
    [3, () => course.in(tab, { kind: 'forget', id, what: 'fact' })],
    [1, () => course.in(tab, { kind: 'userForget', id })],
    [1, () => course.in(tab, { kind: 'deleteSession', session: session ?? 'default' })],
  ])()
  for (const one of [other, tab]) course.context(one, { onPending: 'abandon' })
}

export const FACTS: readonly (readonly [number, Scene])[] = [
  [8, remember],
  [5, changeFact],
  [2, lookAtFacts],
  [3, commit],
  [2, handOver],
  [2.5, ending],
  [1.5, share],
]
