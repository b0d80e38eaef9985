/**
 * Scenes of what else is kept beside the log: profile, skills, checkpoint, settings, recall, a
 * start.
 */
import type { IfVersion } from '../commands.ts'
import type { Json } from '../json.ts'
import type { Course } from './course.ts'
import type { Scene } from './scenes.ts'
import { queryOf, textOf } from './texts.ts'

const profile: Scene = (course, tab) => {
  const { random } = course
  const name = random.pick(['SOUL.md', 'TASKS.md', 'MEMORY.md', 'NOTES.md'])
  const length = random.sized(10, course.lineOf(tab) / 4)
  const written = random.maybe(0.25, 'ifVersion', (): IfVersion => random.pick(['current', 'stale', 'none']))
  random.weighted([
    [5, () => course.in(tab, { kind: 'profileSet', name, text: textOf(random, length), ...written })],
    [2, () => course.in(tab, { kind: 'profileUpdate', name, add: ` ${textOf(random, 20)}` })],
    [1, () => course.in(tab, { kind: 'profileDelete', name, ...written })],
    [1, () => course.in(tab, { kind: 'profileSet', name: 'two\nlines', text: 'x' })],
  ])()
  if (random.chance(0.3)) course.in(tab, { kind: 'profileList' })
  if (random.chance(0.75)) course.context(tab, { onPending: 'abandon' })
}

const skills: Scene = (course, tab) => {
  const { random } = course
  const name = random.pick(['tides', 'tickets', 'maps'])
  const description = `${textOf(random, 40)}.`.replace(/\n/g, ' ')
  const text = textOf(random, random.sized(10, course.lineOf(tab) / 5))
  const markdown = `---\nname: ${name}\ndescription: Reads ${random.pick(['tables', 'maps'])}.\n---\n${text}`
  random.weighted([
    [4, () => course.in(tab, { kind: 'skillSet', skill: { name, description, text } })],
    [1, () => course.in(tab, { kind: 'skillSet', skill: markdown })],
    [1, () => course.in(tab, { kind: 'skillSet', skill: { name: 'No Name', description, text } })],
    [0.7, () => course.in(tab, { kind: 'skillDelete', name })],
  ])()
  if (random.chance(0.25))
    course.in(tab, { kind: 'skillSet', skill: { name, description: 'The same, told otherwise.', text } })
  if (random.chance(0.6)) course.in(tab, { kind: 'loadSkill', name })
  if (random.chance(0.2))
    course.in(tab, { kind: 'unloadSkill', name: random.pick(['tides', 'tickets', 'maps']) })
  if (random.chance(0.3))
    course.in(tab, random.chance(0.5) ? { kind: 'skillList' } : { kind: 'loadedSkills' })
  course.context(tab, { onPending: 'abandon', ...random.maybe(0.4, 'newEpoch', () => true) })
}

export function stateOf({ random }: Course): Json {
  return random.weighted<Json>([
    [6, { n: random.whole(0, 9), note: textOf(random, random.whole(0, 200)) }],
    [1, { n: -1 }],
    [1, [1, 2, { done: [] }]],
    [0.3, { n: 1, note: 'x'.repeat(40_000) }],
  ])
}

const checkpoint: Scene = (course, tab) => {
  const { random } = course
  const written = random.maybe(0.3, 'ifVersion', (): IfVersion => random.pick(['current', 'stale', 'none']))
  const value = stateOf(course)
  random.weighted([
    [4, () => course.in(tab, { kind: 'checkpointSet', value, ...written })],
    [
      2,
      () => course.in(tab, { kind: 'checkpointUpdate', ...random.maybe(0.6, 'default', () => ({ n: 5 })) }),
    ],
    [1, () => course.in(tab, { kind: 'checkpointDelete', ...written })],
  ])()
  if (random.chance(0.5))
    course.in(tab, { kind: 'checkpointGet', ...random.maybe(0.3, 'default', () => ({ n: 7 })) })
  if (random.chance(0.5)) course.context(tab, { onPending: 'abandon' })
}

const recall: Scene = (course, tab) => {
  const { random } = course
  if (course.configurations[tab.configuration]?.recall === undefined && random.chance(0.9)) return
  const query = queryOf(random)
  const first = random.maybe(0.5, 'first', () => random.whole(0, 12))
  random.weighted([
    [3, () => course.in(tab, { kind: 'recall', query, ...first })],
    [2, () => course.in(tab, { kind: 'recallPage', query, ...first })],
    [
      2,
      () =>
        course.in(tab, {
          kind: 'userRecall',
          query,
          ...first,
          ...random.maybe(0.7, 'sessions', () => 'all' as const),
        }),
    ],
    [2, () => course.context(tab, { recall: query, onPending: 'abandon' })],
  ])()
}

const start: Scene = (course, tab) => {
  const { random } = course
  if (random.chance(0.2))
    course.in(tab, {
      kind: 'changeSettings',
      patch: {
        working_memory_budget_tokens: random.sized(40, 3_000),
        pin_budget_tokens: random.whole(0, 900),
      },
    })
  if (random.chance(0.2)) course.in(tab, { kind: 'settings' })
  course.in(tab, {
    kind: 'start',
    ...random.maybe(0.5, 'query', () => queryOf(random)),
    ...random.maybe(0.3, 'project', () => random.pick(['rail', 'sea'])),
    ...random.maybe(0.4, 'budgetTokens', () =>
      random.chance(0.5) ? random.sized(30, 2_000) : { recall: random.whole(0, 400) },
    ),
    ...random.maybe(0.3, 'days', () => random.whole(1, 200)),
  })
}

export const REMEMBERING: readonly (readonly [number, Scene])[] = [
  [4, profile],
  [4, skills],
  [3, checkpoint],
  [4, recall],
  [2, start],
]
