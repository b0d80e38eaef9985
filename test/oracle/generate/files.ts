/** Scenes of all that a user has: listed, exported, imported, erased. */
import type { Damage } from '../commands.ts'
import { messageOf } from './messages.ts'
import type { Scene } from './scenes.ts'
import { factOf, textOf } from './texts.ts'

const listed: Scene = (course, tab) => {
  const { random } = course
  const session = random.chance(0.8) ? (tab.session ?? 'default') : 'home'
  if (random.chance(0.5))
    course.in(tab, { kind: 'title', session, title: textOf(random, random.pick([10, 20, 260])) })
  course.in(tab, { kind: 'sessions' })
  if (random.chance(0.3))
    course.in(tab, { kind: 'audit', ...random.maybe(0.4, 'first', () => random.whole(0, 3)) })
}

const exported: Scene = (course, tab) => {
  const { random } = course
  const of = random.pick(['user', 'session'] as const)
  const name = course.id('file')
  const parts = ['log', 'facts', 'profile', 'checkpoint'].filter(() => random.chance(0.6))
  course.in(tab, {
    kind: 'export',
    of,
    as: name,
    ...random.maybe(0.2, 'parts', () => parts),
    ...random.maybe(0.15, 'format', () => 'markdown' as const),
  })
  course.exports.push({ name, of, session: tab.session ?? 'default' })
  if (random.chance(0.7)) imported(course, tab)
}

/**
 * An older file, then a newer one of the same log, into a fresh store: messages were said, facts
 * made and things forgotten in between.
 */
const exportedTwice: Scene = (course, tab) => {
  const { random } = course
  const of = random.pick(['user', 'session'] as const)
  const session = of === 'session' && random.chance(0.5) ? { session: 'copy' } : {}
  const known = course.tabs.find(({ store }) => store === 1)
  const target =
    known ??
    course.open({ store: 1, configuration: tab.configuration, session: session.session ?? tab.session })
  for (let files = random.whole(2, 3); files > 0; files--) {
    const name = course.id('file')
    course.in(tab, { kind: 'export', of, as: name })
    course.in(target, { kind: 'import', from: name, user: target.user, ...session })
    const change = (): void =>
      random.weighted([
        [2, () => course.append(tab, [messageOf(course, tab, 'user')])],
        [
          3,
          () => course.in(tab, { kind: 'forget', id: random.late(tab.conversation.live, 8)?.id ?? 'nobody' }),
        ],
        [1, () => course.in(tab, { kind: 'remember', fact: factOf(random) })],
        [1, () => course.in(tab, { kind: 'profileSet', name: 'SOUL.md', text: textOf(random, 30) })],
        [1, () => course.in(target, { kind: 'profileSet', name: 'SOUL.md', text: textOf(random, 30) })],
        [1, () => course.in(tab, { kind: 'checkpointSet', value: { n: random.whole(0, 3) } })],
      ])()
    for (let changes = random.whole(1, 3); changes > 0; changes--) change()
    // What a context writes there makes it another log.
    course.context(target, { onPending: 'abandon', ...random.maybe(0.8, 'preview', () => true) })
  }
}

/**
 * A file is read into the same place, another session, another user, or a fresh store, which is
 * then used.
 */
const imported: Scene = (course, tab) => {
  const { random } = course
  const file = random.late(course.exports, 3)
  if (!file) return exported(course, tab)
  const to = random.weighted([
    [3, { store: 1, user: 'ada' }],
    [2, { store: 0, user: 'bob' }],
    [1, { store: 0, user: 'ada' }],
  ])
  const session = file.of === 'session' ? random.pick([file.session, 'copy']) : undefined
  const opened = course.tabs.find((one) => one.store === to.store && one.user === to.user)
  const target =
    opened ?? course.open({ ...to, configuration: tab.configuration, session: session ?? file.session })
  course.in(target, {
    kind: 'import',
    from: file.name,
    user: to.user,
    ...(session !== undefined && random.chance(0.9) && { session }),
    ...random.maybe(0.6, 'trust', () => random.pick(['keep', 'user', 'import', 'import'] as const)),
    ...random.maybe(0.15, 'damage', () => random.pick<Damage>(['cut', 'garbled', 'swapped', 'changed'])),
  })
  if (random.chance(0.7)) course.context(target, { onPending: 'abandon' })
  if (random.chance(0.3)) course.append(target, [messageOf(course, target, 'user')])
}

/** All of a session or of a user goes; what stood there is looked at before. */
const erase: Scene = (course, tab) => {
  const { random } = course
  course.add({ kind: 'rows' })
  if (random.chance(0.5)) course.in(tab, { kind: 'erase' })
  else course.in(tab, { kind: 'deleteSession', session: tab.session ?? 'default' })
  tab.conversation.live = []
  course.context(tab, { onPending: 'abandon' })
  course.append(tab, [messageOf(course, tab, 'user')])
  course.context(tab, { onPending: 'abandon' })
}

export const FILES: readonly (readonly [number, Scene])[] = [
  [1.5, listed],
  [3.5, exported],
  [2.2, exportedTwice],
  [1.5, imported],
  [0.5, erase],
]
