/** What is loaded before somebody wants it, since there may be no network then. */
import { expect, it, vi } from 'vitest'
import { browser } from './support.ts'
import { TestService } from './test-service.ts'

const CHANGES = '../../../src/chat/homes/local-changes.ts'

it.each([
  ['this browser', {}],
  ['a synced edge', { src: 'https://edge.test', synced: true }],
])('what takes files is loaded before anything was said: %s', async (_, settings) => {
  vi.resetModules()
  let loaded = 0
  vi.doMock(CHANGES, async (load) => {
    loaded++
    return load<object>()
  })
  const { openChat } = await import('../../../src/chat/open-chat.ts')
  const { fetch } = new TestService()
  const chat = openChat({ ...settings, platform: { ...browser().platform, fetch, WebSocket: undefined } })
  await chat.conversation.create()
  expect(loaded).toBe(0)
  chat.conversation.prepare()
  await expect.poll(() => loaded).toBe(1)
  await chat.close()
})
