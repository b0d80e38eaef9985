import { expect, it } from 'vitest'
import { contextAt } from '../../../src/operations/context-at.ts'
import { idle, until } from './states.ts'
import { browser } from './support.ts'

it('shows an inspector the session behind a conversation, with contexts as its replies are given them', async () => {
  const given: unknown[] = []
  const chat = browser().open({
    model: {
      id: 'noting',
      async *complete({ context }) {
        given.push({ hash: context.hash, tools: context.tools?.map(({ name }) => name) })
        yield { type: 'finish', message: { role: 'assistant', content: 'Yes.' }, reason: 'stop' }
      },
    },
    tools: [{ name: 'find', inputSchema: { type: 'object' }, execute: () => null }],
  })
  expect(await chat.conversation.inspected()).toBeUndefined()
  await chat.conversation.send('Is it there?')
  const { messages } = await until(chat, idle)
  const inspected = await chat.conversation.inspected()
  if (inspected?.home !== 'local') throw new Error('it is kept here')
  const past = await contextAt(inspected.session, messages[0]?.message.id ?? '')
  const next = await inspected.session.context({ preview: true, tools: inspected.tools })
  expect(past).toMatchObject({ verified: true, context: { hash: (given[0] as { hash: string }).hash } })
  expect(next.epoch).toBe(past.context.epoch)
  expect(next.tools?.map(({ name }) => name)).toEqual((given[0] as { tools: string[] }).tools)
  expect(next.tools?.[0]?.name).toBe('find')
  await chat.close()
})
