import { expect, it } from 'vitest'
import { scriptedModel } from '../../../src/index.ts'
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

it('shows in what was sent for a reply what was remembered of the message before it', async () => {
  const call = { name: 'memory_preference', input: { text: 'Likes window seats.' }, id: 'c1' }
  const chat = browser().open({ model: scriptedModel([{ calls: [call] }, 'Noted.', 'Booked.']) })
  await chat.conversation.send('I like window seats.')
  await until(chat, idle)
  await chat.conversation.send('Book one.')
  const { messages } = await until(chat, idle)
  const inspected = await chat.conversation.inspected()
  if (inspected?.home !== 'local') throw new Error('it is kept here')
  const past = await contextAt(inspected.session, messages.at(-2)?.message.id ?? '')
  expect(past).toMatchObject({ verified: true, tail: 'whole' })
  expect(JSON.stringify(past.context.blocks.at(-1))).toContain('Likes window seats.')
  await chat.close()
})
