/** A put that waits, was emptied here with what it derives from, and is refused by the home. */

import { expect, test } from 'vitest'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { PushAnswer } from '../../../src/ports/sync.ts'
import { refusalsOf } from '../../../src/sync/index.ts'
import { append, put, remove } from '../../contract/samples.ts'
import { device, logOf, outboxOf, TestHome, TRIP, write } from '../support/synced.ts'

const BODY = 'what m1 says'

const PUT = put('q', 'mood', 'p', { body: BODY, sources: ['entry:m1'] })
const DELETE = remove('d', 'entry:m1')
const ORDERS = [
  ['before the delete', [PUT, DELETE]],
  ['after the delete', [DELETE, PUT]],
] as const

/** A register that a device changes offline by a message that it deletes then, or has deleted. */
async function played(
  order: readonly SealedOp[],
  meanwhile: (home: TestHome, refuse: (id: string) => void) => Promise<unknown>,
) {
  const home = new TestHome()
  const one = device(home)
  one.store.follow(TRIP)
  await write(one.store, [append('a', ['m1'], { bodies: [BODY] }), put('p', 'mood', null)])
  await one.store.settled()
  one.store.pause()
  for (const op of order) await write(one.store, [op])
  await meanwhile(home, (id) => {
    const { push } = one.link
    one.link.push = async (requests, signal) => {
      const kept = requests.map((one) => ({
        ...one,
        ops: one.ops.filter(({ envelope }) => envelope.opId !== id),
      }))
      const answers = await push(kept, signal)
      return answers.map((answer, at) => {
        if (!('results' in answer)) return answer
        const results = [...answer.results]
        const place = requests[at]?.ops.findIndex(({ envelope }) => envelope.opId === id) ?? -1
        if (place >= 0) results.splice(place, 0, { rejected: 'forbidden' })
        return { ...answer, results } satisfies PushAnswer
      })
    }
  })
  const told: unknown[] = []
  for (const event of ['conflict', 'rejected'] as const)
    refusalsOf(one.store).on(event, (refused) => told.push(refused))
  one.store.resume()
  await one.store.settled()
  const other = device(home)
  other.store.follow(TRIP)
  await other.store.settled()
  for (const store of [home, one.base, other.base]) {
    const scope = 'open' in store ? store.open(TRIP) : home.open()
    expect(await scope.register('mood')).toMatchObject({ body: null })
    expect(JSON.stringify([await logOf(store), await scope.register('mood')])).not.toContain(BODY)
  }
  expect(JSON.stringify(await refusalsOf(one.store).of(TRIP))).not.toContain(BODY)
  expect(await outboxOf(other.base)).toBe(0)
  await one.store.close()
  await other.store.close()
  return told
}

test.each(ORDERS)(
  '%s it stays deleted everywhere, where another device wrote the register first',
  async (_, order) => {
    const told = await played(order, (home) =>
      write({ open: () => home.open() } as never, [put('x', 'mood', 'p')]),
    )
    expect(told).toHaveLength(1)
  },
)

test.each(ORDERS)('%s it stays deleted everywhere, where the home does not take it', async (_, order) => {
  const told = await played(order, async (_, refuse) => refuse('q'))
  expect(told).toHaveLength(1)
})
