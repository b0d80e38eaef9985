import { expect, it } from 'vitest'
import { joinAtEdge } from '../../../src/chat/homes/edge-reply.ts'
import type { ChatRun } from '../../../src/client/chat.ts'
import { PlimsollError } from '../../../src/index.ts'

it('stops a reply at an edge that began only after it was told to stop', async () => {
  const stops: string[] = []
  let begin = (): void => {}
  const isBegun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const run = {
    run: 'r1',
    async *[Symbol.asyncIterator]() {
      await isBegun
      yield { type: 'start' }
      yield { type: 'abort' }
    },
    result: async () => ({ isAborted: true }),
  } as unknown as ChatRun
  const client = {
    resumeChat: () => run,
    async stopChat(id: string) {
      stops.push(id)
      if (stops.length === 1) throw new PlimsollError('ERR_NOT_FOUND', 'chat: there is no such run')
    },
  }
  const stop = new AbortController()
  const joining = joinAtEdge(
    { client: client as never, newest: async () => [], keep: async () => {} },
    { signal: stop.signal, leave: new AbortController().signal, tell: () => {} },
  )
  stop.abort()
  expect(stops).toEqual(['r1'])
  begin()
  await joining
  expect(stops).toEqual(['r1', 'r1'])
})
