/** Scenes of contexts and of other reads: tails, tools, limits, previews, the past. */
import type { ContextJson } from '../shapes.ts'
import { limitsOf, optionsFor, TOOLS } from './asking.ts'
import type { Scene } from './scenes.ts'
import { textOf } from './texts.ts'

const plainContext: Scene = (course, tab) => {
  const { random } = course
  const options = optionsFor(course, tab)
  if (random.chance(0.3)) course.context(tab, { ...options, preview: true })
  course.context(tab, options)
  if (random.chance(0.25)) course.context(tab, options)
}

/** Fills the room with the call's own tail, then lets go. */
const longTail: Scene = (course, tab) => {
  const { random } = course
  const tail = textOf(random, course.lineOf(tab) * (0.2 + random.next() * 0.7))
  course.context(tab, { tail })
  if (random.chance(0.7)) course.context(tab)
}

const otherTools: Scene = (course, tab) => {
  const { random } = course
  tab.tools = TOOLS.slice(0, random.whole(0, TOOLS.length))
  course.context(tab)
}

const manual: Scene = (course, tab) => {
  const { random } = course
  course.context(tab, { newEpoch: true, ...random.maybe(0.2, 'preview', () => true) })
  course.context(tab)
}

const otherLimits: Scene = (course, tab) => {
  const { random } = course
  const limits = limitsOf(course, tab)
  for (let calls = random.whole(1, 3); calls > 0; calls--) {
    course.context(tab, { limits, ...random.maybe(0.3, 'onPending', () => 'abandon' as const) })
    if (random.chance(0.5))
      course.append(tab, [{ id: course.id('m'), role: 'user', content: textOf(random, 60) }])
  }
  if (random.chance(0.3)) course.in(tab, { kind: 'compact', limits })
  course.context(tab)
}

/** A line below what is needed. */
const tooSmall: Scene = (course, tab) => {
  const { random } = course
  const id = course.id('m')
  course.append(tab, [
    { id, role: 'user', content: textOf(random, course.lineOf(tab) * (0.6 + random.next() * 0.6)) },
  ])
  course.context(tab, optionsFor(course, tab))
  if (random.chance(0.5)) {
    course.append(tab, [
      { id: course.id('m'), role: 'assistant', content: textOf(random, course.lineOf(tab) * random.next()) },
    ])
    course.context(tab)
  }
  course.in(tab, { kind: 'rewind', id })
  course.hide(tab, id)
  course.context(tab)
}

const past: Scene = (course, tab) => {
  const { random } = course
  const { all } = tab.conversation
  for (let times = random.whole(1, 3); times > 0; times--)
    course.in(tab, { kind: 'contextAt', id: random.late(all, 20)?.id ?? 'nobody' })
}

const history: Scene = (course, tab) => {
  const { random } = course
  course.in(tab, {
    kind: 'history',
    ...random.maybe(0.4, 'rounds', () => random.whole(0, 5)),
    ...random.maybe(0.4, 'messages', () => random.whole(0, 12)),
    ...random.maybe(0.4, 'before', () => random.late(tab.conversation.all, 20)?.id ?? 'nobody'),
    ...random.maybe(0.2, 'characters', () => random.whole(1, 2_000)),
  })
}

const source: Scene = (course, tab) => {
  const { random } = course
  const { count } = tab.conversation
  const number = random.whole(1, Math.max(1, count + 1))
  course.in(tab, {
    kind: 'readSource',
    reference: random.pick([
      `#${number}`,
      `#${number}.1`,
      `#${Math.max(1, number - 3)}-#${number}`,
      'all of it',
    ]),
    ...random.maybe(0.4, 'offset', () => random.whole(0, 300)),
    ...random.maybe(0.4, 'length', () => random.whole(1, 400)),
  })
}

const watching: Scene = (course, tab) => {
  const { random } = course
  course.in(tab, { kind: random.chance(0.75) ? 'subscribe' : 'unsubscribe' })
  course.in(tab, { kind: 'snapshot' })
  const other = random.pick(course.tabs)
  course.append(other, [{ id: course.id('m'), role: 'user', content: textOf(random, 50) }])
  course.in(tab, { kind: 'snapshot' })
}

const refused: Scene = (course, tab) => {
  const { random } = course
  course.context(
    tab,
    random.pick<ContextJson>([
      { tail: [{ name: 'no name', text: 'x' }] },
      { tools: [...TOOLS.slice(0, 1), ...TOOLS.slice(0, 1)] },
      { limits: { window: { max: { rounds: 0 } } } },
      { limits: { toolOutput: { first: -1 } } },
      { tail: 'half a character: \ud800' },
    ]),
  )
}

export const LOOKING: readonly (readonly [number, Scene])[] = [
  [9, plainContext],
  [4, longTail],
  [2, otherTools],
  [3, manual],
  [3, otherLimits],
  [2, tooSmall],
  [3, past],
  [2, history],
  [2, source],
  [2, watching],
  [0.6, refused],
]
