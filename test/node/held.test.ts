/** What the map store holds of a message beyond its text, in this process's heap. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { charsPerToken, createMemory, mapStore } from '../../src/index.ts'

const MESSAGES = 10_000
const TEXT = 200

test('a message in the map store holds at most a kibibyte beyond its text', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const heap = (): number => {
    gc()
    return process.memoryUsage().heapUsed
  }
  const memory = createMemory({ store: mapStore(), budget: 8_000, counter: charsPerToken(4) })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const fill = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++)
      await session.append({ role: 'user', content: `${index}`.padEnd(TEXT, 'a') })
  }
  await fill(1_000)
  const before = heap()
  await fill(MESSAGES)
  expect((heap() - before) / MESSAGES - TEXT).toBeLessThanOrEqual(1_024)
})
