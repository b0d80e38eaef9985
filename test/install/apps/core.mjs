/** The core, without any peer. */
import assert from 'node:assert/strict'
import {
  assertFits,
  createMemory,
  defaultCounter,
  lexicalRecall,
  mapStore,
  toAnthropic,
  toOpenAI,
} from 'plimsoll'
import { createClient } from 'plimsoll/client'
import { encryptedStore, secretKeys } from 'plimsoll/encrypted'
import { createMemory as createLazyMemory } from 'plimsoll/lazy'

const keys = secretKeys('a secret of at least thirty-two bytes')
for (const create of [createMemory, createLazyMemory]) {
  for (const store of [mapStore(), encryptedStore(mapStore(), keys)]) {
    const memory = create({ store, system: 'You book trains.', budget: 4_000, recall: lexicalRecall() })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    for (let round = 0; round < 40; round++) {
      await session.addExchange(`Question ${round}: ${'When does it leave? '.repeat(20)}`, `Answer ${round}.`)
      await session.append({ role: 'user', content: `And then, ${round}?` })
      assertFits(toOpenAI(await session.context()), defaultCounter, 4_000)
      await session.append({ role: 'assistant', content: 'At 9:40.' })
    }
    await session.append({ role: 'user', content: 'Two seats to Turin.' })
    await session.remember({ kind: 'preference', text: 'Window seats.' })
    const context = await session.context()
    assert.equal(toOpenAI(context).messages[0].role, 'system')
    assert.equal(typeof toAnthropic(context).system, 'object')
    assert.equal((await session.recall('question 3')).length > 0, true)
    const lines = []
    for await (const line of memory.export({ userId: 'ada' })) lines.push(line)
    assert.equal(lines.length > 100, true)
    await memory.erase({ userId: 'ada' })
    assert.deepEqual(await session.history(), [])
  }
}
assert.equal(
  createClient({ baseUrl: 'http://127.0.0.1:1', token: 'local' }).session('trip') !== undefined,
  true,
)
