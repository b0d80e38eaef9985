import { evictDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { webHost } from '../../../src/platform/web.ts'
import { limit, runs } from '../../everywhere/runs.ts'
import { userObject } from './rows.ts'
import { said, World } from './world.ts'

const MINUTE = 60_000

afterEach(() => {
  vi.restoreAllMocks()
})

/** What a model would be given, as text. */
async function shown(world: World, session: string): Promise<string> {
  return JSON.stringify((await world.context(session)).blocks)
}

/** A user with two sessions that have said something, and know what there was to know. */
async function met(): Promise<World> {
  const world = new World()
  for (const session of ['trip', 'home']) {
    await world.create(session)
    await world.append(session, said(`${session}/1`, 'Hello.'))
    await world.context(session)
  }
  return world
}

type Poke = SessionObject['poke']

/** What becomes of hints on their way to sessions. */
function pokes(how: (poke: () => void) => unknown): void {
  const { poke } = SessionObject.prototype
  vi.spyOn(SessionObject.prototype, 'poke').mockImplementation(function (this: SessionObject) {
    return how(() => poke.call(this)) as ReturnType<Poke>
  })
}

describe('what sessions of a user share', () => {
  it('shows in the next context of another session, once that one was told', async () => {
    const world = await met()
    await world.remember('home', 'Window seats.')
    await vi.waitFor(async () => expect(await shown(world, 'trip')).toContain('Window seats.'))
    await world.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Answers in rhymes.' })
    await vi.waitFor(async () => expect(await shown(world, 'trip')).toContain('Answers in rhymes.'))
  })

  it('shows a minute later at the latest, where nobody told', async () => {
    const world = await met()
    pokes(() => {})
    await world.remember('home', 'Window seats.')
    expect(await shown(world, 'home')).toContain('Window seats.')
    expect(await shown(world, 'trip')).not.toContain('Window seats.')
    const now = vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + MINUTE + 1)
    expect(await shown(world, 'trip')).toContain('Window seats.')
    now.mockRestore()
  })

  it('does not keep sessions from going on while it fails, and its failing is in their receipts', async () => {
    const world = await met()
    await world.remember('trip', 'Window seats.')
    await evictDurableObject(world.stub())
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const failing = vi.spyOn(UserObject.prototype, 'pull').mockRejectedValue(new Error('out of order'))
    expect((await world.append('trip', said('trip/2', 'And back.'))).status).toBe(200)
    const { blocks, receipt } = await world.context()
    expect(receipt.failures).toMatchObject([{ part: 'user-replica', code: 'ERR_STORAGE' }])
    expect(JSON.stringify(blocks)).toMatch(/And back\..*Window seats\./)
    expect(JSON.stringify(receipt.failures)).not.toContain('out of order')
    expect((await world.remember('trip', 'No flights at night.')).status).toBe(500)
    expect((await world.remember('trip', 'The station is closed.', 'finding')).status).toBe(200)
    failing.mockRestore()
    const after = await world.context()
    expect(after.receipt.failures).toEqual([])
    expect(JSON.stringify(after.blocks)).toContain('The station is closed.')
    expect((await world.remember('trip', 'No flights at night.')).status).toBe(200)
  })

  it('has room for 500 facts, by whichever door they come', async () => {
    const world = await met()
    const remember = (path: string, index: number) => {
      const words = Array.from({ length: 6 }, (_, word) => ((index + 1) * 7_919 * (word + 3)).toString(36))
      // What is older than an hour is not counted as new.
      return world.call('POST', path, { kind: 'preference', text: words.join(' '), created_at: 0 })
    }
    for (let index = 0; index < 500; index += 50)
      await Promise.all(Array.from({ length: 50 }, (_, more) => remember('/v1/me/facts', index + more)))
    for (const path of ['/v1/me/facts', '/v1/sessions/trip/facts'])
      expect({ path, ...(await remember(path, 1_000)) }).toMatchObject({
        path,
        status: 422,
        body: { code: 'ERR_LIMIT', limit: 500 },
      })
  }, 30_000)

  it('is read the same, whatever becomes of hints and objects, as by sessions that always ask (T20)', {
    timeout: limit(60_000),
  }, async () => {
    const act = fc.record({
      session: fc.constantFrom('trip', 'home'),
      what: fc.constantFrom(
        'remember',
        'document',
        'skill',
        'forget',
        'context',
        'evict',
        'evict-user' as const,
      ),
      number: fc.nat(5),
    })
    const run = async (world: World, acts: readonly Act[]): Promise<string> => {
      for (const one of acts) await ACTS[one.what](world, one)
      vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + 2 * MINUTE)
      const reads = []
      for (const session of ['trip', 'home']) {
        // Fences tell epochs apart, and an epoch may have begun earlier or later.
        const { blocks } = await world.context(session, { new_epoch: true })
        reads.push(
          blocks.map(({ role, parts }) => [role, JSON.stringify(parts).replace(/ctx-[0-9a-f]+/g, 'ctx')]),
        )
        reads.push((await world.call('GET', `/v1/sessions/${session}/facts`)).body)
      }
      return JSON.stringify(reads)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { maxLength: 12 }),
        fc.infiniteStream(fc.nat(3)),
        async (acts, fates) => {
          pokes(async (poke) => {
            const fate = fates.next().value
            // Lost, on time, twice, late.
            for (let times = Math.min(fate, 2) - (fate === 3 ? 1 : 0); times > 0; times--) poke()
            if (fate === 3) await scheduler.wait(5).then(poke)
          })
          const here = await run(await met(), acts)
          vi.restoreAllMocks()
          vi.spyOn(webHost, 'now').mockImplementation(clock())
          const there = await run(await met(), acts)
          vi.restoreAllMocks()
          expect(here).toBe(there)
        },
      ),
      runs(12),
    )
  })
})

interface Act {
  readonly session: string
  readonly what: keyof typeof ACTS
  readonly number: number
}

/**
 * A clock by which a minute goes by between any two looks, so that no copy is ever young enough.
 */
function clock(): () => number {
  let at = Date.now()
  return () => {
    at += MINUTE + 1
    return at
  }
}

const ACTS = {
  remember: (world: World, { session, number }: Act) =>
    world.remember(
      session,
      ['Window seats.', 'No flights at night.', 'Vegetarian meals only, please.'][number % 3] ?? '',
    ),
  document: (world: World, { number }: Act) =>
    world.call('PUT', `/v1/me/profile/${number % 2}`, { text: `Version ${number}.` }),
  skill: (world: World, { number }: Act) =>
    world.call('PUT', `/v1/me/skills/skill-${number % 2}`, {
      description: `Number ${number}.`,
      text: 'Do it.',
    }),
  forget: (world: World, { session, number }: Act) =>
    world.call('DELETE', `/v1/sessions/${session}/facts/fact-${[13, 20, 30][number % 3]}`),
  context: (world: World, { session }: Act) => world.context(session),
  evict: (world: World, { session }: Act) => evictDurableObject(world.stub(session)).catch(() => {}),
  'evict-user': (world: World) => evictDurableObject(userObject(world.user)).catch(() => {}),
} as const
