/** What the compiler says of `use`: what it gives to sessions, and what it refuses. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Fault } from '../../src/compose.ts'
import {
  type Checkpoint,
  type CheckpointShape,
  type CommitInput,
  type CompactionShape,
  checkpoint,
  compaction,
  createMemory,
  type FactsShape,
  type Feature,
  facts,
  type Json,
  type Memory,
  mapStore,
  type ProfileShape,
  profile,
  type RecallShape,
  recall,
  type Session,
  type SessionOf,
  type SkillsShape,
  type StandardFeatures,
  standard,
  type User,
} from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where both types are one. */
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

const options = { store: mapStore(), budget: 8_000 }
const ada = { userId: 'ada' }
interface Trip {
  readonly done: number
}
const initial: Trip = { done: 0 }

const kernel = createMemory(options)
const remembering = createMemory({ ...options, use: [facts()] })
const full = createMemory({
  ...options,
  use: [profile(), facts(), recall(), compaction(), checkpoint({ initial })],
})

test('a session has what is in use, and no more', () => {
  const bare = kernel.session(ada)
  // @ts-expect-error: there is no facts()
  expect(bare.facts).toBeUndefined()
  // @ts-expect-error: there is no profile()
  expect(kernel.user(ada).profile).toBeUndefined()
  expect(remembering.session(ada).facts.remember).toBeTypeOf('function')
  // @ts-expect-error: there is no recall()
  expect(remembering.session(ada).recall).toBeUndefined()
  // @ts-expect-error: no feature has this name
  expect(full.session(ada).typo).toBeUndefined()
})

test('commit and context take what is in use, and no more', async () => {
  const session = full.session({ userId: 'ada', sessionId: 'commit' })
  const committed = await session.commit({ checkpoint: { done: 1 } }, { ifVersion: null })
  same<typeof committed.checkpoint, string | null | undefined>()
  await session.context({ recall: 'What was said?' })
  // @ts-expect-error: not what the checkpoint holds
  await session.commit({ checkpoint: { nope: 1 } })
  const bare = kernel.session({ userId: 'ada', sessionId: 'bare' })
  // @ts-expect-error: there is no recall()
  await expect(bare.context({ recall: true })).rejects.toThrow('context')
  // @ts-expect-error: there is no checkpoint()
  await expect(bare.commit({ checkpoint: 1 })).rejects.toThrow('commit')
  // @ts-expect-error: there is no checkpoint(), whose option it is
  await expect(bare.commit({}, { ifVersion: null })).rejects.toThrow('commit')
  same<Exclude<keyof CommitInput<{ facts: FactsShape }>, 'messages'>, 'facts'>()
})

test('what cannot be in use together is refused, by the compiler and when it runs', () => {
  const refused = (create: () => unknown, why: string) =>
    expect(create).toThrow(`createMemory: use has ${why}`)
  // @ts-expect-error: recall() needs facts() in use
  refused(() => createMemory({ ...options, use: [recall()] }), 'recall(), which needs facts() in use')
  same<Fault<[Feature<'recall', RecallShape>]>, 'recall() needs facts() in use'>()
  // @ts-expect-error: facts() is in use twice
  refused(() => createMemory({ ...options, use: [facts(), facts()] }), 'facts() twice')
  same<Fault<[Feature<'facts'>, Feature<'profile'>, Feature<'facts'>]>, 'facts() is in use twice'>()
  // @ts-expect-error: standard() has facts()
  refused(() => createMemory({ ...options, use: [...standard(), facts()] }), 'facts() twice')
  const append: Feature<'append'> = { name: 'append' }
  // @ts-expect-error: a feature cannot be named append
  refused(() => createMemory({ ...options, use: [append] }), 'a feature that cannot be named append')
  same<Fault<[Feature<'append'>]>, 'a feature cannot be named append'>()
  same<Fault<[Feature<'facts', FactsShape>, Feature<'recall', RecallShape>]>, never>()
})

test('what is in use only at times may be undefined', () => {
  const recalling = [] as Feature<'recall', RecallShape>[]
  const session = createMemory({ ...options, use: [facts(), ...recalling] }).session(ada)
  same<typeof session.facts, FactsShape['api']>()
  // @ts-expect-error: perhaps there is no recall()
  expect(() => session.recall.find('x')).toThrow(TypeError)
  expect(session.recall?.find).toBeUndefined()
})

test('of a list of any features nothing is known', () => {
  const use: Feature[] = [facts()]
  const session = createMemory({ ...options, use }).session(ada)
  same<typeof session, Session>()
  // @ts-expect-error: nobody knows
  expect(session.facts).toBeDefined()
})

test('a session with more features goes where fewer are asked for', () => {
  const count = (session: Session<{ facts: FactsShape }>): number => session.facts.remember.length
  const bare: Session = full.session(ada)
  const memory: Memory<{ facts: FactsShape }> = full
  const user: User<{ facts: FactsShape }> = full.user(ada)
  const perhaps: Session<{ facts: FactsShape; recall?: RecallShape }> = remembering.session(ada)
  expect([bare.sessionId, count(full.session(ada)), count(memory.session(ada))]).toEqual(['default', 1, 1])
  expect([user.facts, perhaps.recall]).toEqual([expect.anything(), undefined])
  // @ts-expect-error: it has no facts()
  expect(() => count(kernel.session(ada))).toThrow(TypeError)
})

test('SessionOf names the sessions of a memory', () => {
  same<SessionOf<typeof kernel>, Session>()
  const session: SessionOf<typeof remembering> = remembering.session(ada)
  same<typeof session, Session<{ readonly facts: FactsShape }>>()
  expect(session.sessionId).toBe('default')
})

test('the state of the checkpoint is what it begins with', async () => {
  const { checkpoint: kept } = createMemory({
    ...options,
    use: [checkpoint({ initial: { done: 0 } })],
  }).session(ada)
  same<typeof kept, Checkpoint<{ done: number }>>()
  const made = createMemory({
    ...options,
    use: [checkpoint({ initial: (): Trip => ({ done: 0 }) })],
  }).session(ada)
  same<typeof made.checkpoint, Checkpoint<Trip>>()
  const { value } = await kept.get()
  expect(value.done).toBe(0)
  await kept.update((state) => ({ done: state.done + 1 }))
  const empty = createMemory({ ...options, use: [checkpoint()] }).session(ada)
  same<typeof empty.checkpoint, Checkpoint<Json, Json | undefined>>()
})

test('the state of the checkpoint is what its schema gives', () => {
  const schema = z.object({ done: z.number() })
  const { checkpoint: kept } = createMemory({ ...options, use: [checkpoint({ schema })] }).session(ada)
  same<typeof kept, Checkpoint<{ done: number }, { done: number } | undefined>>()
  const use = standard({ checkpoint: { schema, initial: { done: 0 } } })
  same<typeof use, StandardFeatures<{ done: number }>>()
})

test('the state of the checkpoint goes through standard()', async () => {
  const session = createMemory({
    ...options,
    use: [...standard({ checkpoint: { initial: { done: 0 } } }), recall()],
  }).session({ userId: 'ada', sessionId: 'standard' })
  same<typeof session.checkpoint, Checkpoint<{ done: number }>>()
  const { value } = await session.checkpoint.get()
  expect(value.done).toBe(0)
  // @ts-expect-error: not what the checkpoint holds
  await session.commit({ checkpoint: { nope: 1 } })
  const plain = createMemory({ ...options, use: standard() }).session(ada)
  same<typeof plain.checkpoint, Checkpoint<Json, Json | undefined>>()
  same<
    typeof plain,
    Session<{
      readonly profile: ProfileShape
      readonly skills: SkillsShape
      readonly facts: FactsShape
      readonly checkpoint: CheckpointShape<Json, Json | undefined>
      readonly compaction: CompactionShape
    }>
  >()
})
