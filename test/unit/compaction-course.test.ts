import { describe, expect, it } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import { sealOp } from '../../src/core/seal.ts'
import { type Context, type MessageInput, mapStore, type Store } from '../../src/index.ts'
import { changedStore } from './support/changed-store.ts'
import {
  content,
  eventsOf,
  filler,
  memoryOf,
  open,
  round,
  scope,
  summariesIn,
  summariser,
  untilSummary,
} from './support/compacting.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { shown } from './support/messages.ts'

const cause = ({ receipt: { epoch } }: Context): string => (typeof epoch === 'string' ? epoch : epoch.cause)
const idsIn = async (store: Store): Promise<readonly string[]> =>
  (await store.open(scope).entries({ kinds: ['message'] })).rows.map(({ id }) => id)

describe('a rewind', () => {
  it('to where a summary ends leaves the summary alone, and nothing of what it covers shows beside it', async () => {
    const store = mapStore()
    const session = open(
      { model: content() },
      { window: { max: { messages: 6 }, keep: { messages: 3 } } },
      store,
    )
    await session.append({ id: 'q', role: 'user', content: 'Go' })
    let context = await session.context()
    // The cut falls into the round.
    for (let index = 0; !context.receipt.summary; index++) {
      await session.append({ id: `a${index}`, role: 'assistant', content: filler })
      context = await session.context()
    }
    const [summary, opener, first = ''] = shown(context)
    expect([summary, opener, first]).toEqual([
      context.receipt.summary.id,
      'q',
      expect.stringMatching(/^a\d$/),
    ])
    await session.rewind(first)
    for (const preview of [true, false]) {
      const after = await session.context({ preview })
      expect(shown(after)).toEqual([context.receipt.summary?.id])
      expectAllAccounted(after, await idsIn(store))
    }
    await session.append({ id: 'next', role: 'user', content: 'And now?' })
    expect(shown(await session.context())).toEqual([context.receipt.summary?.id, 'next'])
    expect((await session.contextAt('next')).verified).toBe(true)
  })
})
