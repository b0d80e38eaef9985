import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FullSession } from '../contract/full-memory.ts'
import type * as support from './support/compacting.ts'

const AUTHOR = '../../src/features/compaction/author.ts'

let loads: number
let isThere: boolean

beforeEach(() => {
  loads = 0
  isThere = true
  vi.resetModules()
  vi.doMock(AUTHOR, async (importActual) => {
    loads++
    if (!isThere) throw new TypeError('Failed to fetch dynamically imported module')
    return importActual<object>()
  })
})
afterEach(() => {
  vi.doUnmock(AUTHOR)
  vi.resetModules()
})

const fresh = (): Promise<typeof support> => import('./support/compacting.ts')

/** Rounds, each followed by a context, until what shows is above a share of the line. */
async function untilAbove(share: number, session: FullSession, next: () => number): Promise<void> {
  const { round } = await fresh()
  for (;;) {
    const { used, cap } = (await session.context()).receipt
    if (used > share * Number(cap)) return
    await session.append(round(next()))
  }
}

describe('what writes summaries', () => {
  it('is not loaded for a short conversation, and before it is needed for a longer one', async () => {
    const { open } = await fresh()
    const session = open({})
    let rounds = 0
    await session.append({ role: 'user', content: 'Hello.' })
    await session.context()
    await session.context()
    expect(loads).toBe(0)
    await untilAbove(0.6, session, () => rounds++)
    await vi.waitFor(() => expect(loads).toBe(1))
    expect((await session.context()).receipt.summary).toBeUndefined()
  })

  it('is asked for again by the next epoch, where it could not be loaded', async () => {
    isThere = false
    const { eventsOf, open, round, untilSummary } = await fresh()
    const session = open({})
    const events = eventsOf(session)
    let rounds = 0
    while (events.length === 0) {
      await session.append(round(rounds++))
      await session.context()
    }
    expect(events[0]).toMatchObject({ status: 'refused', reasons: ['what writes it could not be loaded'] })
    isThere = true
    vi.resetModules()
    const { context } = await untilSummary(session, rounds)
    expect(context.receipt.summary).toMatchObject({ by: 'extract' })
  })
})
