/**
 * Scenes of what is said: exchanges, notes, nothing at all, much at once, the same again, pictures.
 */
import type { MessageJson } from '../shapes.ts'
import { optionsFor } from './asking.ts'
import { HOUR } from './course.ts'
import { messageOf } from './messages.ts'
import type { Scene } from './scenes.ts'
import { queryOf, textOf } from './texts.ts'

const exchange: Scene = (course, tab) => {
  const { random } = course
  course.append(
    tab,
    [messageOf(course, tab, 'user')],
    random.maybe(0.15, 'opId', () => course.id('op')),
  )
  if (random.chance(0.7)) course.context(tab, optionsFor(course, tab))
  if (random.chance(0.85)) course.append(tab, [messageOf(course, tab, 'assistant')])
  if (random.chance(0.15)) course.append(tab, [messageOf(course, tab, 'assistant')])
}

/** Something is added to a round that is not the newest. */
const older: Scene = (course, tab) => {
  const { random } = course
  const rounds = tab.conversation.all.filter(({ role }) => role === 'user')
  const round = random.late(rounds, 6)
  if (!round) return
  course.append(tab, [messageOf(course, tab, random.pick(['assistant', 'system']))], { round: round.id })
  course.context(tab, optionsFor(course, tab))
}

/** What says nothing. */
const blank: Scene = (course, tab) => {
  const { random } = course
  const id = course.id('m')
  const messages = random.pick<readonly MessageJson[]>([
    [{ id, role: 'user', content: random.pick(['', ' \n']) }],
    [{ id, role: 'assistant', content: '' }],
    [{ id, role: 'assistant', content: [{ type: 'reasoning', text: 'Let me see.' }] }],
    [{ id, role: 'assistant', content: [] }],
  ])
  course.append(tab, messages)
  course.context(tab)
}

const note: Scene = (course, tab) => {
  course.append(tab, [messageOf(course, tab, 'system')])
  course.context(tab)
}

/** Several rounds in one write, as an import of a conversation makes them. */
const bulk: Scene = (course, tab) => {
  const { random } = course
  const rounds = random.sized(2, random.chance(0.2) ? 45 : 10)
  const messages = Array.from({ length: rounds }, () => [
    messageOf(course, tab, 'user'),
    ...(random.chance(0.8) ? [messageOf(course, tab, 'assistant')] : []),
  ]).flat()
  course.append(tab, messages)
  if (random.chance(0.6)) course.context(tab)
}

/** So long a log that its index is kept in blocks, and its first page is not all of it. */
const long: Scene = (course, tab) => {
  const { random } = course
  for (let writes = 4; writes > 0; writes--)
    course.append(
      tab,
      Array.from({ length: 2 * random.whole(35, 45) }, (_, at) => ({
        id: course.id('m'),
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: textOf(random, random.whole(5, 60)),
      })),
    )
  course.context(tab)
  if (course.configurations[tab.configuration]?.recall === undefined) return
  course.in(tab, { kind: 'recall', query: queryOf(random) })
  if (random.chance(0.5)) course.in(tab, { kind: 'forget', id: random.pick(tab.conversation.all).id })
  course.in(tab, { kind: 'reopen' })
  course.in(tab, { kind: 'recall', query: queryOf(random) })
}

const plainExchange: Scene = (course, tab) => {
  const { random } = course
  course.in(tab, { kind: 'addExchange', user: textOf(random, 60), assistant: textOf(random, 100) })
  tab.conversation.count += 2
}

/** The same op again; the same ids under another op; what is refused. */
const again: Scene = (course, tab) => {
  const { random } = course
  const opId = course.id('op')
  const message = { ...messageOf(course, tab, 'user'), id: course.id('m') }
  const reply = { ...messageOf(course, tab, 'assistant'), id: course.id('m') }
  const written = random.chance(0.4) ? [message, reply] : [message]
  course.append(tab, written, { opId })
  if (random.chance(0.4)) course.append(tab, [messageOf(course, tab, 'user')])
  const other = { ...message, content: 'Something else.' }
  const repeats = random.pick<() => void>([
    () => course.in(tab, { kind: 'append', messages: [message], opId }),
    () => course.in(tab, { kind: 'append', messages: written, opId }),
    () => course.in(tab, { kind: 'append', messages: [message, reply], opId }),
    () => course.in(tab, { kind: 'append', messages: [other], opId }),
    () => course.in(tab, { kind: 'append', messages: [other] }),
    () => course.in(tab, { kind: 'append', messages: [message, other], opId: course.id('op') }),
    () =>
      course.in(tab, {
        kind: 'append',
        messages: [messageOf(course, tab, 'assistant')],
        round: 'no-such-round',
      }),
    () => course.in(tab, { kind: 'append', messages: [] }),
    () =>
      course.in(tab, {
        kind: 'append',
        messages: [{ id: course.id('m'), role: 'tool', content: 'no result' }],
      }),
    () => course.in(tab, { kind: 'append', messages: [{ role: 'user', content: 'x', trust: 'system' }] }),
    () => course.in(tab, { kind: 'append', messages: [{ role: 'user', content: 'x', id: 'epoch/1' }] }),
    () =>
      course.in(tab, {
        kind: 'append',
        messages: [{ role: 'user', content: 'x', metadata: { big: 'x'.repeat(5_000) } }],
      }),
  ])
  repeats()
  if (random.chance(0.6)) course.append(tab, [messageOf(course, tab, 'assistant')])
}

const attached: Scene = (course, tab) => {
  const { random } = course
  const id = random.chance(0.7) ? course.id('picture') : undefined
  const name = id ?? course.id('attached')
  const bytes = Array.from({ length: random.whole(1, 40) }, () => random.whole(0, 255))
  course.in(tab, {
    kind: 'attach',
    mediaType: random.chance(0.93) ? 'image/png' : 'no type',
    bytes,
    as: name,
    ...(id !== undefined && { id }),
    ...random.maybe(0.6, 'tokens', () => random.whole(100, 160)),
  })
  if (id !== undefined && random.chance(0.3))
    course.in(tab, { kind: 'attach', mediaType: 'image/png', bytes: random.chance(0.5) ? bytes : [1, 2], id })
  if (id !== undefined && random.chance(0.75)) {
    course.attachments.push(id)
    const media = { type: 'media', mediaType: 'image/png', ref: id, tokens: random.whole(100, 130) }
    const message = {
      id: course.id('m'),
      role: 'user',
      content: [{ type: 'text', text: 'What is this?' }, media],
    } as const
    course.append(tab, [message])
  } else if (random.chance(0.4)) {
    course.advance(random.pick([14, 26]) * HOUR)
    course.in(tab, { kind: 'runDueWork' })
  }
  course.in(tab, { kind: 'attachment', id: random.chance(0.9) ? { ref: name } : 'nothing' })
}

export const TALKING: readonly (readonly [number, Scene])[] = [
  [26, exchange],
  [4, older],
  [3, blank],
  [2, note],
  [4, bulk],
  [0.2, long],
  [2, plainExchange],
  [3, again],
  [2, attached],
]
