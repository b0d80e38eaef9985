/** Scenes around a session: other tabs, cold starts, races, failing stores, models, clocks. */
import type { Answer, OpName, TabCommand } from '../commands.ts'
import { limitsOf, optionsFor } from './asking.ts'
import { type Course, HOUR, type Tab } from './course.ts'
import { messageOf } from './messages.ts'
import type { Scene } from './scenes.ts'
import { factOf, textOf } from './texts.ts'

/** A tab of the same session, of another session of the user, or of another user. */
const openTab: Scene = (course, tab) => {
  const { random } = course
  if (course.tabs.length > 4) return
  const { session, configuration } = tab
  const other = random.weighted([
    [6, { session }],
    [3, { session: random.pick(['home', 'trip', undefined]) }],
    [0.6, { session, user: 'bob' }],
  ])
  const isSame = random.chance(0.7)
  course.open({
    ...other,
    configuration: isSame ? configuration : random.whole(0, course.configurations.length - 1),
    memory: random.chance(0.25) && isSame ? 0 : course.tabs.length,
    project: random.chance(0.2) ? random.pick(['rail', 'sea']) : undefined,
  })
}

/** Two tabs of one session by turns. */
const interleave: Scene = (course, tab) => {
  const { random } = course
  const others = course.tabs.filter((one) => one.conversation === tab.conversation && one !== tab)
  const other = others.length > 0 ? random.pick(others) : undefined
  if (!other) return openTab(course, tab)
  for (let turns = random.whole(2, 5); turns > 0; turns--) {
    const one = random.pick([tab, other])
    const role = random.pick(['user', 'assistant', 'assistant'] as const)
    course.append(one, [messageOf(course, one, role)])
    if (random.chance(0.5)) course.context(random.pick([tab, other]), optionsFor(course, one))
  }
  course.context(tab, { onPending: 'abandon' })
  course.context(other, { onPending: 'abandon' })
}

const reopen: Scene = (course, tab) => {
  course.in(tab, { kind: 'reopen' })
  course.context(tab, { onPending: 'abandon', ...course.random.maybe(0.2, 'preview', () => true) })
}

const OPS: readonly OpName[] = ['append', 'append', 'epoch', 'epoch', 'summary', 'rewind', 'put', 'delete']

/** Others write when a tab is about to. */
const race: Scene = (course, tab) => {
  const { random } = course
  const { conversation } = tab
  const own = course.tabs.filter((one) => one.conversation === conversation && one !== tab)
  // Memories that are shared wait for each other's summaries.
  const other = course.rival(tab)
  const rival = own.length > 0 && random.chance(0.3) ? (own[0] as Tab) : other
  const nested = random.pick<() => readonly TabCommand[]>([
    () => [{ kind: 'append', tab: other.name, messages: [messageOf(course, tab, 'user')] }],
    () => [{ kind: 'context', tab: other.name, onPending: 'abandon' }],
    () => [
      { kind: 'append', tab: other.name, messages: [messageOf(course, tab, 'user')] },
      { kind: 'context', tab: other.name, onPending: 'abandon', newEpoch: true },
    ],
    () => [{ kind: 'remember', tab: other.name, fact: factOf(random) }],
    () => [{ kind: 'rewind', tab: other.name, id: random.late(conversation.live, 3)?.id ?? 'nobody' }],
    () => [{ kind: 'forget', tab: other.name, id: random.late(conversation.live, 5)?.id ?? 'nobody' }],
    () => [{ kind: 'checkpointSet', tab: other.name, value: { n: 3 } }],
    () => [{ kind: 'profileSet', tab: other.name, name: 'SOUL.md', text: textOf(random, 30) }],
    () => [{ kind: 'deleteSession', tab: other.name, session: tab.session ?? 'default' }],
  ])()
  const at = random.pick(OPS)
  course.add({
    kind: 'race',
    at,
    commands: nested.filter(({ tab: name }) => name !== rival.name || rival === other),
  })
  write(course, tab, at)
  course.context(tab, { onPending: 'abandon' })
  if (random.chance(0.4)) course.context(rival, { onPending: 'abandon' })
}

/** A command that is likely to write such an op. */
function write(course: Course, tab: Tab, at: OpName): void {
  const { random } = course
  const { live } = tab.conversation
  switch (at) {
    case 'append':
      course.append(tab, [messageOf(course, tab, random.pick(['user', 'assistant']))])
      return
    case 'epoch':
      course.context(tab, { newEpoch: true, onPending: 'abandon' })
      return
    case 'summary':
      if (random.chance(0.5)) course.in(tab, { kind: 'compact' })
      else course.context(tab, { newEpoch: true, onPending: 'abandon' })
      return
    case 'rewind':
      course.in(tab, { kind: 'rewind', id: random.late(live, 3)?.id ?? 'nobody' })
      return
    case 'delete':
    case 'erase':
      course.in(tab, { kind: 'forget', id: random.late(live, 5)?.id ?? 'nobody' })
      return
    case 'put':
      random.pick([
        () => course.in(tab, { kind: 'remember', fact: factOf(random) }),
        () => course.in(tab, { kind: 'checkpointUpdate', default: { n: 0 } }),
        () => course.in(tab, { kind: 'profileUpdate', name: 'SOUL.md', add: ' And so on.' }),
        () => course.in(tab, { kind: 'commit', checkpoint: { n: 1 }, facts: [factOf(random)] }),
      ])()
  }
}

/** The store fails during one command, which is then sent again. */
const fail: Scene = (course, tab) => {
  const { random } = course
  const op = random.chance(0.7) ? random.pick(OPS) : undefined
  const reads = random.chance(0.3)
  course.add({
    kind: 'fail',
    calls: reads ? 'reads' : 'commits',
    ...random.maybe(0.5, 'scope', () => random.pick(['session', 'user'] as const)),
    ...(!reads && op !== undefined && { op }),
    ...random.maybe(0.4, 'how', () => 'after' as const),
    ...random.maybe(0.3, 'times', () => 1),
  })
  const before = course.commands.length
  if (reads)
    course.context(tab, {
      recall: true,
      onPending: 'abandon',
      ...random.maybe(0.4, 'newEpoch', () => true),
    })
  else write(course, tab, op ?? random.pick(OPS))
  if (random.chance(0.6)) course.commands.push(...course.commands.slice(before, before + 1))
  course.context(tab, { onPending: 'abandon' })
}

const ANSWERS: readonly Answer[] = [
  'good',
  'faithful',
  'streamed',
  'empty',
  'silent',
  'error',
  'long',
  'invented',
  'json',
  'forged',
  'rules',
  'cut off',
  'hangs',
  'throws',
]

/** A model that misbehaves, and a window that has to be summarised. */
const summarise: Scene = (course, tab) => {
  const { random } = course
  course.add({
    kind: 'model',
    answers: Array.from({ length: random.whole(1, 5) }, () => random.pick(ANSWERS)),
  })
  for (let rounds = random.whole(1, 4); rounds > 0; rounds--) {
    course.append(tab, [messageOf(course, tab, 'user')])
    course.append(tab, [messageOf(course, tab, 'assistant')])
    if (random.chance(0.7)) course.context(tab, { onPending: 'abandon' })
  }
  if (random.chance(0.5))
    course.in(tab, { kind: 'compact', ...random.maybe(0.2, 'limits', () => limitsOf(course, tab)) })
  if (random.chance(0.1)) course.in(tab, { kind: 'compacted' })
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.5, 'newEpoch', () => true) })
}

/** What the provider counted: more or less than the counter, or what cannot be. */
const report: Scene = (course, tab) => {
  const { random } = course
  const counter = course.configurations[tab.configuration]?.counter.type
  if (counter !== 'calibrated' && random.chance(0.9)) return
  course.context(tab, { onPending: 'abandon' })
  for (let calls = random.whole(1, 4); calls > 0; calls--)
    course.in(tab, { kind: 'report', factor: random.pick([0.5, 0.8, 1.1, 1.3, 1.6, 3]) })
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.5, 'newEpoch', () => true) })
}

const wait: Scene = (course, tab) => {
  const { random } = course
  const isKeeping = course.configurations[tab.configuration]?.retention !== undefined
  course.advance(random.pick([1, HOUR, 5 * HOUR, 14 * HOUR, 26 * HOUR, 50 * HOUR, 80 * HOUR]))
  if (random.chance(0.4)) course.in(tab, { kind: 'nextWorkAt' })
  for (let times = random.whole(isKeeping ? 1 : 0, isKeeping ? 3 : 2); times > 0; times--)
    course.in(tab, { kind: 'runDueWork' })
  course.context(tab, { onPending: 'abandon' })
}

/** A summary that cannot be stored, and rounds that would need one. */
const unstored: Scene = (course, tab) => {
  const { random } = course
  course.add({ kind: 'fail', calls: 'commits', op: 'summary' })
  course.context(tab, { newEpoch: true, onPending: 'abandon' })
  for (let rounds = random.whole(3, 5); rounds > 0; rounds--) {
    course.append(tab, [messageOf(course, tab, 'user')])
    course.append(tab, [messageOf(course, tab, 'assistant')])
    course.context(tab, { newEpoch: true, onPending: 'abandon' })
  }
}

export const AROUND: readonly (readonly [number, Scene])[] = [
  [4, openTab],
  [6, interleave],
  [4, reopen],
  [4, race],
  [4, fail],
  [5, summarise],
  [1.5, unstored],
  [8, report],
  [4, wait],
]
