/** Scenes of calls: answered, answered late, twice or never, in one round or in two at once. */
import { optionsFor } from './asking.ts'
import { answer, callingOf, messageOf, resultOf } from './messages.ts'
import type { Scene } from './scenes.ts'

/** Ids that models give; few, so that they come again. */
const CALL_IDS = ['c1', 'c2', 'call_0', 'call_1', '']

/**
 * An assistant's message with calls, then results: all or some, in one message or several, in any
 * order.
 */
const step: Scene = (course, tab) => {
  const { random } = course
  if (tab.conversation.live.length === 0 || random.chance(0.35))
    course.append(tab, [messageOf(course, tab, 'user')])
  for (let steps = random.whole(1, 3); steps > 0; steps--) {
    const ids = Array.from(
      {
        length: random.weighted([
          [5, 1],
          [3, 2],
          [1, 3],
          [1, 4],
        ]),
      },
      () => (random.chance(0.3) ? random.pick(CALL_IDS) : course.id('call')),
    )
    course.append(tab, [callingOf(course, ids)])
    if (random.chance(0.12)) course.context(tab, { onPending: random.pick(['reject', 'abandon'] as const) })
    const answered = random.chance(0.82) ? ids : ids.filter(() => random.chance(0.5))
    const order = random.chance(0.8) ? answered : [...answered].reverse()
    const results = order.map((callId) => resultOf(course, tab, callId))
    if (results.length > 1 && random.chance(0.4)) course.append(tab, [answer(course, results)])
    else for (const result of results) course.append(tab, [answer(course, [result])])
    const [again] = ids
    if (again !== undefined && random.chance(0.08))
      course.append(tab, [answer(course, [resultOf(course, tab, again)])])
    if (random.chance(0.75))
      course.context(tab, {
        ...optionsFor(course, tab),
        ...random.maybe(0.5, 'onPending', () => 'abandon' as const),
      })
  }
  if (random.chance(0.6)) course.append(tab, [messageOf(course, tab, 'assistant')])
}

/**
 * A result for a call of any step, answered before or not, or for none; of an older round too, and
 * others after it.
 */
const late: Scene = (course, tab) => {
  const { random } = course
  const { open, answered, all } = tab.conversation
  const asked = random.chance(0.75) ? random.late(open, 6) : random.late(answered, 12)
  const callId = asked && random.chance(0.85) ? asked.callId : 'nobody'
  const round = asked?.round ?? random.late(all, 12)?.round
  course.append(
    tab,
    [
      answer(course, [resultOf(course, tab, callId)]),
      ...(random.chance(0.25) ? [messageOf(course, tab, random.pick(['assistant', 'user'] as const))] : []),
    ],
    round !== undefined && round !== '' && random.chance(0.35) ? { round } : {},
  )
  if (random.chance(0.8)) course.context(tab, { onPending: 'abandon' })
}

/** Two rounds that go on at the same time, as of two writers that do not see each other. */
const braid: Scene = (course, tab) => {
  const { random } = course
  const rounds = [course.id('m'), course.id('m')]
  for (const id of rounds) course.append(tab, [{ ...messageOf(course, tab, 'user'), id }])
  const calls: (readonly [round: string, callId: string])[] = []
  for (let turns = random.whole(3, 8); turns > 0; turns--) {
    const round = random.pick(rounds)
    const asked = calls.find(([one]) => one === round)
    if (asked && random.chance(0.7)) {
      calls.splice(calls.indexOf(asked), 1)
      course.append(tab, [answer(course, [resultOf(course, tab, asked[1])])], { round })
    } else if (random.chance(0.6)) {
      const callId = course.id('call')
      calls.push([round, callId])
      course.append(tab, [callingOf(course, [callId])], { round })
    } else course.append(tab, [messageOf(course, tab, 'assistant')], { round })
    if (random.chance(0.35)) course.context(tab, { ...optionsFor(course, tab), onPending: 'abandon' })
  }
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.3, 'newEpoch', () => true) })
  // What comes after the window was cut belongs to what was cut.
  for (const [round, callId] of calls) {
    if (random.chance(0.4)) continue
    course.append(tab, [answer(course, [resultOf(course, tab, callId)])], { round })
    course.context(tab, { onPending: 'abandon', ...random.maybe(0.4, 'newEpoch', () => true) })
  }
}

/** Calls that nobody answers, and a message after them. */
const abandon: Scene = (course, tab) => {
  const { random } = course
  course.append(tab, [messageOf(course, tab, 'user')])
  course.append(tab, [
    callingOf(
      course,
      Array.from({ length: random.whole(1, 3) }, () => course.id('call')),
    ),
  ])
  course.context(tab, { onPending: random.chance(0.7) ? 'abandon' : 'reject' })
  if (random.chance(0.5)) course.context(tab, { onPending: 'abandon', tail: 'Say what is missing.' })
  course.append(tab, [messageOf(course, tab, random.chance(0.7) ? 'user' : 'assistant')])
  course.context(tab)
}

export const CALLING: readonly (readonly [number, Scene])[] = [
  [20, step],
  [6, late],
  [4, braid],
  [4, abandon],
]
