import { expect, it } from 'vitest'
import type { EdgeSession } from '../../../../src/edge/features.ts'
import { agentRun } from '../../../../src/edge/turn/agent-run.ts'
import { attach, type Context, createMemory, mapStore } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'
import type { Model } from '../../../../src/ports/model.ts'

it('shows the model the pictures of a session, and no other files', async () => {
  const memory = createMemory({ store: mapStore(), budget: 16_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const bytes = new TextEncoder().encode('a dot')
  const picture = await attach(session, { mediaType: 'image/png', bytes })
  const ticket = await attach(session, { mediaType: 'application/pdf', bytes })
  await session.append({ role: 'user', content: [{ type: 'text', text: 'Look.' }, picture, ticket] })
  let seen: Context | undefined
  const model: Model = {
    id: 'test',
    async *complete({ context }) {
      seen = context
      yield { type: 'finish', reason: 'stop', message: { role: 'assistant', content: 'A dot.' } }
    },
  }
  const outcome = await agentRun({})(
    {
      session: session as unknown as EdgeSession,
      model: () => model,
      tools: [],
      options: {},
      host: webHost,
      signal: new AbortController().signal,
      begin: () => {},
    },
    () => {},
  )
  expect(outcome).toEqual({ status: 'done', steps: 1 })
  const media = seen?.blocks.flatMap(({ parts }) => parts.filter(({ type }) => type === 'media'))
  expect(media).toEqual([{ ...picture, url: `data:image/png;base64,${btoa('a dot')}` }, ticket])
  expect((await session.history())[0]?.content).toEqual([{ type: 'text', text: 'Look.' }, picture, ticket])
})
