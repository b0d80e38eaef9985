import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  charsPerToken,
  type Extract,
  type Fact,
  mapStore,
  type Store,
} from '../../../src/index.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { forgetFact } from '../../../src/operations/forget/forget.ts'
import { type FullMemory, type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { FailingStore, type Failure } from '../support/failing-store.ts'

const ADA = { userId: 'ada' }

const seats: Extract = (rounds) =>
  rounds
    .flat()
    .flatMap(({ id, content }) =>
      typeof content === 'string' && content.startsWith('I prefer')
        ? [{ id: `said/${id}`, kind: 'preference' as const, text: content, sources: [id] }]
        : [],
    )

function open(store: Store): FullMemory {
  return fullMemory({
    store,
    budget: 1_000,
    counter: charsPerToken(4),
    extraction: { extract: seats },
    laws: lawChecker,
  })
}

const tripOf = (memory: FullMemory): FullSession => memory.session({ ...ADA, sessionId: 'trip' })

const wordsIn = ({ blocks }: Context, text: string): number =>
  blocks
    .filter(({ section }) => section !== 'window')
    .flatMap(({ parts }) =>
      parts.map((part) => (part.type === 'text' ? part.text.split(text).length - 1 : 0)),
    )
    .reduce((sum, times) => sum + times, 0)

interface Course {
  /** What is there before. */
  readonly before: (session: FullSession) => Promise<void>
  /** What is cut short, and then done again. */
  readonly act: (session: FullSession) => Promise<unknown>
  /**
   * Text of the one fact that is there in the end, in all of the user's sessions or in this one.
   */
  readonly text: string
  readonly isShared: boolean
  /** Whether the fact was there before. */
  readonly isOld: boolean
}

const courses: { readonly [name: string]: Course } = {
  'a fact is remembered': {
    before: async () => {},
    act: (session) =>
      session.facts.remember({ kind: 'preference', text: 'Likes window seats.' }, { opId: 'op-1' }),
    text: 'Likes window seats.',
    isShared: true,
    isOld: false,
  },
  'a fact is promoted': {
    before: async (session) => {
      await session.facts.remember({
        id: 'f1',
        kind: 'preference',
        text: 'Likes window seats.',
        trust: 'assistant',
      })
      await session.context()
    },
    act: (session) => session.facts.promote('f1'),
    text: 'Likes window seats.',
    isShared: true,
    isOld: true,
  },
  'messages and a fact are committed': {
    before: (session) => session.append({ role: 'user', content: 'Where to?' }).then(() => {}),
    act: (session) =>
      session.commit(
        {
          messages: { role: 'assistant', content: 'By the window?' },
          facts: [{ kind: 'constraint', text: 'Never fly.' }],
        },
        { opId: 'op-1' },
      ),
    text: 'Never fly.',
    isShared: true,
    isOld: false,
  },
  'a fact is superseded': {
    before: async (session) => {
      await session.facts.remember({ id: 'f1', kind: 'finding', text: 'The ferry leaves at noon.' })
      await session.context()
    },
    act: (session) =>
      session.facts.supersede('f1', { id: 'f2', kind: 'finding', text: 'It sails at dawn instead.' }),
    text: 'It sails at dawn instead.',
    isShared: false,
    isOld: false,
  },
  'an epoch cuts what is extracted first': {
    before: async (session) => {
      await session.append({ role: 'user', content: 'I prefer seats by the window.' })
      await session.context()
      for (let round = 0; round < 12; round++)
        await session.append({ role: 'user', content: `Question ${round}: ${'and then? '.repeat(36)}` })
    },
    act: (session) => session.context({ newEpoch: true }),
    text: 'I prefer seats by the window.',
    isShared: false,
    isOld: false,
  },
}

/** Does it over a store that fails there, and says whether it ever got that far. */
async function fail(
  { before, act }: Course,
  failure: Failure,
): Promise<{ readonly map: Store; readonly failed: boolean }> {
  const map = mapStore()
  await before(tripOf(open(map)))
  const failing = new FailingStore(map, failure)
  const session = tripOf(open(failing.store))
  await act(session).catch(() => {})
  const failed = failing.calls >= failure.at
  // A process that goes on does it again with the same object.
  if (!failure.isEnd && failed) await act(session).catch(expectSuperseded)
  return { map, failed }
}

/** What was superseded is not superseded again. */
function expectSuperseded(error: { readonly code?: string }): void {
  expect(error.code).toBe('ERR_CONFLICT')
}

async function expectOnce(session: FullSession, text: string): Promise<void> {
  const said = (facts: readonly Fact[]) => facts.filter((fact) => fact.text === text).length
  expect(said(await session.facts.list())).toBe(1)
  expect(wordsIn(await session.context(), text)).toBe(1)
}

describe.each(Object.entries(courses))('wherever a process ends while %s', (_, course) => {
  const { text, isShared, isOld, act } = course

  it.each(['before', 'after'] as const)(
    'doing it again completes it: none is lost, none is there twice (%s a call)',
    async (when) => {
      for (const isEnd of [true, false])
        for (let at = 1; ; at++) {
          const { map, failed } = await fail(course, { at, when, isEnd })
          if (!failed) {
            expect(at).toBeGreaterThan(3)
            break
          }
          const session = tripOf(open(map))
          await act(session).catch(expectSuperseded)
          await expectOnce(session, text)
          if (isShared) await expectOnce(open(map).session({ ...ADA, sessionId: 'home' }), text)
          await expectOnce(tripOf(open(map)), text)
          const messages = await session.history({ messages: 100 })
          expect(new Set(messages.map(({ content }) => content)).size).toBe(messages.length)
          const newest = messages.at(-1)
          // Nothing followed the context of the newest one.
          if (newest)
            expect(await contextAt(tripOf(open(map)), newest.id)).toMatchObject({ reason: 'unrecorded' })
        }
    },
  )

  it('what was written before is whole at the very next context', async () => {
    for (const when of ['before', 'after'] as const)
      for (let at = 1; ; at++) {
        const { map, failed } = await fail(course, { at, when, isEnd: true })
        if (!failed) break
        const session = tripOf(open(map))
        const shown = wordsIn(await session.context(), text)
        const facts = await session.facts.list()
        expect(facts.filter((fact) => fact.text === text).length).toBe(shown)
        expect(shown === 1 || (shown === 0 && !isOld)).toBe(true)
        const elsewhere = wordsIn(
          await open(map)
            .session({ ...ADA, sessionId: 'home' })
            .context(),
          text,
        )
        const [fact] = facts.filter((fact) => fact.text === text)
        if (isShared && fact?.trust === 'user') expect(elsewhere).toBe(1)
        else expect(elsewhere).toBe(0)
      }
  })
})

it('a fact that its user forgets while it is half shared is gone, and is in the way of no other', async () => {
  const course = courses['messages and a fact are committed'] as Course
  let halves = 0
  for (let at = 1; ; at++) {
    const { map, failed } = await fail(course, { at, when: 'before', isEnd: true })
    if (!failed) break
    const user = open(map).user(ADA)
    const [fact] = await user.facts.list()
    const waitingIn = async () =>
      (await map.open({ ...ADA, sessionId: 'trip' }).indexed('fact/share')).filter(({ key }) =>
        key.startsWith('fact/'),
      )
    const [waiting] = await waitingIn()
    if (!fact || !waiting) continue
    halves++
    // A preview finishes nothing, and shows it once.
    expect(wordsIn(await tripOf(open(map)).context({ preview: true }), course.text)).toBe(1)
    expect(await waitingIn()).toHaveLength(1)
    await forgetFact(open(map), ADA, fact.id)
    const session = tripOf(open(map))
    expect(wordsIn(await session.context(), course.text)).toBe(0)
    expect(await session.facts.list({ all: true })).toEqual([])
    await session.facts.remember({ id: 'f1', kind: 'preference', text: 'Likes windows.', trust: 'assistant' })
    await session.facts.promote('f1')
    expect(await user.facts.list()).toMatchObject([{ id: 'f1' }])
  }
  expect(halves).toBeGreaterThan(0)
})
