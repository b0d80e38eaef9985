import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Compactor } from '../../../src/features/compaction/compactor.ts'
import { compaction, type Model } from '../../../src/index.ts'
import { changeSessions, withFeatures } from './changed-settings.ts'
import { said, World } from './world.ts'

const CAP = 1_000
const ROUND = 'The train to the coast leaves in the morning and comes back at night. '.repeat(2)
/** How often work is tried before it is given up. */
const ATTEMPTS = 5

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  return () => void vi.restoreAllMocks()
})

/** Sessions that wake are summarised by a model that answers on demand. */
async function summarised(answer: (request: number) => Promise<string>): Promise<{ requests: number }> {
  const state = { requests: 0 }
  const model: Model = {
    id: 'summariser',
    async *complete() {
      const content = await answer(++state.requests)
      yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
    },
  }
  await changeSessions((settings) => {
    const { memory, ...others } = withFeatures(settings, compaction({ model }))
    return { ...others, memory: { ...memory, budget: { contextWindow: CAP, maxOutputTokens: 0, margin: 0 } } }
  })
  return state
}

/** Rounds, and a context after each of them. @returns how many summaries the last one stands on */
async function talk(world: World, from: number, rounds: number): Promise<number> {
  let place = 0
  for (let index = from; index < from + rounds; index++) {
    const { status } = await world.append(
      'trip',
      said(`q${index}`, `Question ${index}. ${ROUND}`),
      said(`a${index}`, `${ROUND} Answer ${index}.`, 'assistant'),
    )
    expect(status).toBe(200)
    const { receipt } = await world.context()
    expect(receipt.used).toBeLessThanOrEqual(CAP)
    place = receipt.summary?.place ?? 0
  }
  return place
}

async function summariesOf(world: World): Promise<readonly { readonly by: string; readonly upto: string }[]> {
  return runInDurableObject(world.stub(), (_, { storage }) =>
    storage.sql
      .exec(`SELECT body FROM plimsoll_log WHERE kind = 'summary' ORDER BY n`)
      .toArray()
      .map(({ body }) => JSON.parse(body as string) as { by: string; upto: string }),
  )
}

interface Owed {
  readonly due: number | null
  readonly attempts: number
  readonly error: string | null
}

async function owedBy(world: World): Promise<Owed | undefined> {
  return runInDurableObject(world.stub(), (_, { storage }) => {
    const found = `SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_edge_work'`
    if (storage.sql.exec(found).toArray().length === 0) return undefined
    const query = `SELECT due, attempts, error FROM plimsoll_edge_work WHERE kind = 'compact'`
    return storage.sql.exec(query).toArray()[0] as unknown as Owed | undefined
  })
}

/** The alarm, as if its time had come. */
async function ring(world: World): Promise<void> {
  await runInDurableObject(world.stub(), async (_, { storage }) => {
    storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL')
    if ((await storage.getAlarm()) !== null) await storage.setAlarm(Date.now() + 3_600_000)
  })
  await runDurableObjectAlarm(world.stub())
}

async function made(): Promise<World> {
  const world = new World()
  await world.create()
  return world
}

describe('a session whose compaction fails', () => {
  it('has what the model wrote once it works again, each place once, whatever it threw before (T9)', async () => {
    const state = await summarised(async (request) => {
      if (request <= 3) throw new Error('the model is ill')
      return 'They talked of trains to the coast.'
    })
    const world = await made()
    expect(await talk(world, 0, 36)).toBeGreaterThan(1)
    expect(state.requests).toBeGreaterThan(3)
    const summaries = await summariesOf(world)
    expect(summaries[0]?.by).toBe('extract')
    expect(summaries.at(-1)?.by).toBe('summariser')
    expect(new Set(summaries.map(({ upto }) => upto)).size).toBe(summaries.length)
    await vi.waitFor(async () => {
      await ring(world)
      expect(await owedBy(world)).toBeUndefined()
    })
  })

  it('holds the line with extracts, where the model always throws, and owes nothing (T9)', async () => {
    await summarised(async () => {
      throw new Error('the model is ill')
    })
    const world = await made()
    expect(await talk(world, 0, 24)).toBeGreaterThan(1)
    expect(new Set((await summariesOf(world)).map(({ by }) => by))).toEqual(new Set(['extract']))
    await vi.waitFor(async () => {
      await ring(world)
      expect(await owedBy(world)).toBeUndefined()
    })
  })

  it('gives up in the alarm after some attempts, and goes on taking messages and serving contexts (T9)', async () => {
    // It would be written for ever; the alarm has to do it.
    await summarised(() => new Promise(() => {}))
    const world = await made()
    for (let round = 0; !(await owedBy(world)) && round < 40; round++) await talk(world, round, 1)
    expect(await owedBy(world)).toMatchObject({ attempts: 0 })
    const failing = vi.spyOn(Compactor.prototype, 'run').mockRejectedValue(new TypeError('poison'))
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      await ring(world)
      expect(await owedBy(world)).toMatchObject({
        attempts: attempt,
        error: 'TypeError',
        due: attempt === ATTEMPTS ? null : expect.any(Number),
      })
    }
    await ring(world)
    expect(failing).toHaveBeenCalledTimes(ATTEMPTS)
    expect((await world.append('trip', said('last', 'One more.'))).status).toBe(200)
    expect(JSON.stringify((await world.context()).blocks)).toContain('One more.')
  })
})
