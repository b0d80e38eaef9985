/** The core, without any peer. */
import assert from 'node:assert/strict'
import {
  addExchange,
  assertFits,
  createMemory,
  defaultCounter,
  eraseUser,
  exportFrom,
  mapStore,
  recall,
  standard,
  toAnthropic,
  toOpenAI,
} from 'plimsoll'
import { createClient } from 'plimsoll/client'
import { encryptedStore, secretKeys } from 'plimsoll/encrypted'

const keys = secretKeys('a secret of at least thirty-two bytes')
for (const store of [mapStore(), encryptedStore(mapStore(), keys)]) {
  const use = [...standard(), recall()]
  const memory = createMemory({ store, system: 'You book trains.', budget: 4_000, use })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  for (let round = 0; round < 40; round++) {
    await addExchange(session, `Question ${round}: ${'When does it leave? '.repeat(20)}`, `Answer ${round}.`)
    await session.append({ role: 'user', content: `And then, ${round}?` })
    assertFits(toOpenAI(await session.context()), defaultCounter, 4_000)
    await session.append({ role: 'assistant', content: 'At 9:40.' })
  }
  await session.append({ role: 'user', content: 'Two seats to Turin.' })
  await session.facts.remember({ kind: 'preference', text: 'Window seats.' })
  const context = await session.context()
  assert.equal(toOpenAI(context).messages[0].role, 'system')
  assert.equal(typeof toAnthropic(context).system, 'object')
  assert.equal((await session.recall.find('question 3')).length > 0, true)
  const lines = []
  for await (const line of exportFrom(memory, { userId: 'ada' })) lines.push(line)
  assert.equal(lines.length > 100, true)
  await eraseUser(memory, { userId: 'ada' })
  assert.deepEqual(await session.history(), [])
}
assert.equal(
  createClient({ baseUrl: 'http://127.0.0.1:1', token: 'local' }).session('trip') !== undefined,
  true,
)
