/** Scenes in which what was said is hidden, shown again, replaced or forgotten. */
import { optionsFor } from './asking.ts'
import { messageOf } from './messages.ts'
import type { Scene } from './scenes.ts'

const rewind: Scene = (course, tab) => {
  const { random } = course
  const target = random.late(tab.conversation.live, random.chance(0.7) ? 5 : 30)
  if (!target) return
  const name = course.id('rewind')
  course.in(tab, {
    kind: 'rewind',
    id: target.id,
    as: name,
    ...random.maybe(0.15, 'opId', () => course.id('op')),
  })
  tab.conversation.rewinds.push(name)
  course.hide(tab, target.id)
  if (random.chance(0.6)) course.context(tab, optionsFor(course, tab))
  if (random.chance(0.7)) course.append(tab, [messageOf(course, tab, 'user')])
  if (random.chance(0.6)) course.context(tab)
}

const undo: Scene = (course, tab) => {
  const { random } = course
  const { conversation } = tab
  if (random.chance(0.35)) rewind(course, tab)
  const name = random.late(conversation.rewinds, 4)
  course.in(tab, {
    kind: 'undo',
    ...(name !== undefined && random.chance(0.4) && { rewind: { ref: name } }),
    ...random.maybe(0.1, 'opId', () => course.id('op')),
  })
  // What shows again is known again, about.
  conversation.live = conversation.all.slice(-Math.max(conversation.live.length, 12))
  course.context(tab, optionsFor(course, tab))
}

/** A message of the user is said otherwise. */
const edit: Scene = (course, tab) => {
  const { random } = course
  const target = random.late(
    tab.conversation.live.filter(({ role }) => role === 'user' || random.chance(0.1)),
    5,
  )
  if (!target) return
  const message = {
    ...messageOf(course, tab, random.chance(0.95) ? 'user' : 'assistant'),
    id: course.id('m'),
  }
  const opId = random.maybe(0.2, 'opId', () => course.id('op'))
  course.in(tab, { kind: 'append', messages: [message], replaces: target.id, ...opId })
  if (opId.opId !== undefined)
    course.in(tab, { kind: 'append', messages: [message], replaces: target.id, ...opId })
  course.hide(tab, target.id)
  tab.conversation.versions.push(message.id)
  course.noteSaid(tab, [message])
  course.context(tab, optionsFor(course, tab))
  if (random.chance(0.4)) course.in(tab, { kind: 'branches' })
  if (random.chance(0.5)) switched(course, tab)
}

const switched: Scene = (course, tab) => {
  const { random } = course
  const id = random.late(tab.conversation.versions, 6) ?? 'nobody'
  course.in(tab, { kind: 'switchTo', id, ...random.maybe(0.2, 'opId', () => course.id('op')) })
  if (random.chance(0.7)) course.context(tab)
}

/** A message is forgotten: one that shows, or one that is summarised. */
const forget: Scene = (course, tab) => {
  const { random } = course
  const { conversation } = tab
  const { live, all } = conversation
  const target = random.chance(0.65) ? random.late(live, 8) : random.pick(all)
  if (!target) return
  course.in(tab, { kind: 'forget', id: target.id, ...random.maybe(0.2, 'what', () => 'message' as const) })
  conversation.live = live.filter(({ id }) => id !== target.id)
  if (random.chance(0.85)) course.context(tab, { onPending: 'abandon' })
  if (random.chance(0.25)) course.in(tab, { kind: 'forget', id: target.id })
  if (random.chance(0.3)) course.in(tab, { kind: 'contextAt', id: random.late(all, 10)?.id ?? 'nobody' })
  if (random.chance(0.2)) course.in(tab, { kind: 'history' })
}

/** What cannot be decrypted shows as such, for a while. */
const veil: Scene = (course, tab) => {
  const { random } = course
  const { live, facts } = tab.conversation
  course.in(tab, { kind: 'checkpointSet', value: { n: 1, note: 'veiled' } })
  const ids = [random.late(live, 6)?.id, random.late(facts, 3)].flatMap((id) => id ?? [])
  course.add({ kind: 'veil', ids: [...ids, ...ids.map((id) => `fact/${id}`), 'checkpoint'] })
  const others = course.tabs.filter(({ store }) => store === tab.store)
  for (const one of others) course.in(one, { kind: 'reopen' })
  course.context(tab, { onPending: 'abandon' })
  if (random.chance(0.5)) course.in(tab, { kind: 'history' })
  if (random.chance(0.3)) course.in(tab, { kind: 'contextAt', id: random.late(live, 6)?.id ?? 'nobody' })
  course.add({ kind: 'veil', ids: [] })
  for (const one of others) course.in(one, { kind: 'reopen' })
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.8, 'newEpoch', () => true) })
}

export const CHANGING: readonly (readonly [number, Scene])[] = [
  [6, rewind],
  [4, undo],
  [5, edit],
  [2, switched],
  [6, forget],
  [1.3, veil],
]
