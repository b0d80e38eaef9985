import { describe, expect, it } from 'vitest'
import * as plimsoll from '../../src/index.ts'

const { createMemory, mapStore, startSession } = plimsoll
const exported = new Map<string, unknown>(Object.entries(plimsoll))

/** All that reads or moves rows, as it is called with too little. */
const operations = [
  ...['addExchange', 'attach', 'changeSettings', 'contextAt', 'deleteSession', 'editMessage', 'eraseUser'],
  ...['findSession', 'forget', 'forgetFact', 'importInto', 'listSessions', 'nextWorkAt', 'readAttachment'],
  ...['readAudit', 'readBranches', 'readSettings', 'readSource', 'rewind', 'runDueWork', 'startSession'],
  ...['switchTo', 'titleSession', 'undo'],
] as const

describe('an operation', () => {
  for (const name of operations)
    it(`rejects, and does not throw, where it is given no session or memory: ${name}`, async () => {
      const called = (exported.get(name) as (given: unknown) => Promise<unknown>)(undefined)
      await expect(called).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringMatching(`^${name}: (session|memory) must be a`),
      })
    })
})

describe('a session’s start', () => {
  it('writes nothing where there are no facts in use', async () => {
    const store = mapStore()
    const memory = createMemory({ store, budget: 300 })
    await expect(startSession(memory.session({ userId: 'ada' }) as never)).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
      message: 'startSession: add facts() to what the memory has in use',
    })
    expect(await store.scopes()).toEqual([])
  })
})
