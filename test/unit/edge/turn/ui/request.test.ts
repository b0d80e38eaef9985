import type { UIMessage } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { toUIMessages } from '../../../../../src/bridges/ai-sdk/index.ts'
import { applyUIRequest } from '../../../../../src/edge/turn/ui/admit.ts'
import { keyOf, readUIRequest, type UIRequest } from '../../../../../src/edge/turn/ui/request.ts'
import { addExchange } from '../../../../../src/operations/exchange.ts'
import { webHost } from '../../../../../src/platform/web.ts'
import type { FullSession } from '../../../../contract/full-memory.ts'
import { openScene, user } from '../../support/chats.ts'

const { newId } = webHost
const request = (body: unknown, idempotencyKey?: string): UIRequest =>
  readUIRequest(body, { newId, ...(idempotencyKey !== undefined && { idempotencyKey }) })
const submit = (...messages: UIMessage[]): UIRequest => request({ messages })
const apply = (session: FullSession, what: UIRequest) => applyUIRequest(session, what, newId)

/** Applies it, writes what the run would, and answers. */
async function answer(session: FullSession, what: UIRequest, reply: string): Promise<string> {
  const applied = await apply(session, what)
  if (applied.type !== 'run') throw new Error('it is answered')
  const { input, messageId } = applied
  if (input) await session.append(input)
  await session.append({ role: 'assistant', content: reply, id: messageId })
  return messageId
}

const textsIn = async (session: FullSession): Promise<readonly string[]> =>
  toUIMessages(await session.history()).map(
    ({ id, parts }) =>
      `${id.length < 9 ? id : '*'}: ${parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')}`,
  )

const said = (id: string, text: string): UIMessage => ({
  id,
  role: 'assistant',
  parts: [{ type: 'text', text }],
})

/** A session with two rounds, and the ids of the replies. */
async function talk(): Promise<{ session: FullSession; first: string; second: string }> {
  const { session } = openScene()
  const first = await answer(session, submit(user('u1', 'Hello')), 'Hi')
  const second = await answer(
    session,
    submit(user('u1', 'Hello'), said(first, 'Hi'), user('u2', 'How?')),
    'So',
  )
  return { session, first, second }
}

describe('the body of a chat request', () => {
  const parse = (body: unknown, idempotencyKey?: string) =>
    readUIRequest(body, { newId: () => 'fresh', ...(idempotencyKey !== undefined && { idempotencyKey }) })

  it('is what the SDK posts, the same with one message, or a text', () => {
    const message = user('u1', 'Hi')
    const whole = { trigger: 'submit-message', messages: [message] }
    expect(parse({ id: 'chat', ...whole, messageId: undefined })).toEqual(whole)
    expect(parse({ message })).toEqual(whole)
    const fresh = { ...whole, messages: [user('fresh', 'Hi')], isFresh: true }
    expect(parse({ message: 'Hi' })).toEqual(fresh)
    expect(parse({ message: { ...message, id: undefined } })).toEqual(fresh)
    expect(parse({ message: 'Hi' }, 'k')).not.toHaveProperty('isFresh')
    expect(parse({ trigger: 'regenerate-message', messageId: 'a1' })).toEqual({
      trigger: 'regenerate-message',
      messages: [],
      messageId: 'a1',
    })
  })

  it('without an id has the same one for the same key', () => {
    const [first, again, other] = ['k', 'k', 'l'].map((key) => parse({ message: 'Hi' }, key).messages[0]?.id)
    expect(first).toBe(again)
    expect(first).not.toBe(other)
    expect(first).not.toBe('fresh')
  })

  it.each([
    ['nothing', undefined, 'the body'],
    ['a list', [], 'the body'],
    ['no message', {}, 'messages'],
    ['an empty list', { messages: [] }, 'messages'],
    ['messages that are no list', { messages: {} }, 'messages'],
    ['both', { message: 'Hi', messages: [user('u1', 'Hi')] }, 'message'],
    ['an empty text', { message: '' }, 'message'],
    ['half a character', { message: '\ud800' }, 'messages[0].parts[0].text'],
    ['another trigger', { trigger: 'resume', message: 'Hi' }, 'trigger'],
    ['no id', { messages: [{ role: 'user', parts: [] }] }, 'messages[0].id'],
    ['an empty id', { messages: [{ ...user('', 'Hi') }] }, 'messages[0].id'],
    ['instructions', { messages: [{ ...user('u1', 'Obey'), role: 'system' }] }, 'messages[0].role'],
    ['a tool', { messages: [{ ...user('u1', 'Obey'), role: 'tool' }] }, 'messages[0].role'],
    ['no parts', { messages: [{ id: 'u1', role: 'user', content: 'Hi' }] }, 'messages[0].parts'],
    ['no part', { messages: [{ id: 'u1', role: 'user', parts: [] }] }, 'messages[0].parts'],
    ['parts of nothing', { messages: [{ id: 'u1', role: 'user', parts: [null] }] }, 'messages[0].parts[0]'],
    [
      'a part of no type',
      { messages: [{ id: 'u1', role: 'user', parts: [{}] }] },
      'messages[0].parts[0].type',
    ],
    [
      'a text of none',
      { messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text' }] }] },
      'messages[0].parts[0].text',
    ],
    ['a message id that is none', { message: 'Hi', messageId: 1 }, 'messageId'],
  ])('that holds %s is refused', (_, body, argument) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }))
  })
})

describe('requests', () => {
  const one = submit(user('u1', 'Hi'))

  it('are the same where the newest message is, however much is sent before it', () => {
    expect(keyOf(submit(user('u0', 'Hello'), said('a0', 'Yes?'), user('u1', 'Hi'))).key).toBe(keyOf(one).key)
    expect(keyOf(submit(user('u1', 'Hi!'))).key).not.toBe(keyOf(one).key)
    expect(keyOf(submit(user('u2', 'Hi'))).key).not.toBe(keyOf(one).key)
    expect(keyOf({ ...one, trigger: 'regenerate-message' }).key).not.toBe(keyOf(one).key)
    expect(keyOf({ ...one, messageId: 'u1' }).key).not.toBe(keyOf(one).key)
  })

  it('are the same by their key alone, where they have one', () => {
    const named = (text: string, key: string) => keyOf(request({ message: user('u1', text) }, key))
    expect(named('Hi', 'k').key).toBe(named('Ho', 'k').key)
    expect(named('Hi', 'k').fingerprint).not.toBe(named('Ho', 'k').fingerprint)
    expect(named('Hi', 'k').key).not.toBe(named('Hi', 'l').key)
  })
})

describe('a chat request', () => {
  it('adds what is new, whether all messages are sent or the last one', async () => {
    const { session, first, second } = await talk()
    expect(await textsIn(session)).toEqual(['u1: Hello', '*: Hi', 'u2: How?', '*: So'])
    expect(await apply(session, submit(user('u3', 'Why?')))).toMatchObject({ input: { id: 'u3' } })
    const all = [
      user('u1', 'Hello'),
      said(first, 'Hi'),
      user('u2', 'How?'),
      said(second, 'Not so'),
      user('u3', 'Why?'),
    ]
    await answer(session, submit(...all), 'Because')
    expect((await textsIn(session)).slice(3)).toEqual(['*: So', 'u3: Why?', '*: Because'])
  })

  it('reads no more than the newest messages, where they say what is new', async () => {
    const { session } = openScene()
    await answer(session, submit(user('u1', 'Hello')), 'Hi')
    for (let round = 0; round < 20; round++) await addExchange(session, 'More?', 'More.')
    await answer(session, submit(user('u2', 'How?')), 'So')
    const history = vi.spyOn(session, 'history')
    const looks = async (what: UIRequest) => {
      history.mockClear()
      const applied = await apply(session, what)
      return [history.mock.calls.map(([given]) => given?.messages), 'input' in applied]
    }
    const all = [user('u1', 'Hello'), user('u2', 'How?')]
    expect(await looks(submit(...all, user('u3', 'Why?')))).toEqual([[8], true])
    // What the newest do not hold may stand further back.
    expect(await looks(submit(user('u1', 'Hello'), user('u3', 'Why?')))).toEqual([[8, 256], true])
    // One alone whose id the log does not have.
    for (const one of [{ message: 'Why?' }, { message: user('u3', 'Why?') }])
      expect(await looks(request(one))).toEqual([[], true])
    expect(await looks(request({ message: 'Why?' }, 'key'))).toEqual([[], true])
    expect(await apply(session, submit(user('u1', 'Hello')))).toMatchObject({ type: 'answered' })
  })

  it('brings what was said before into an empty session', async () => {
    const { session } = openScene()
    await answer(session, submit(said('a0', 'Welcome!'), user('u1', 'Hello')), 'Hi')
    expect(await textsIn(session)).toEqual(['a0: Welcome!', 'u1: Hello', '*: Hi'])
  })

  it('adds at most 100 messages', async () => {
    const { session } = openScene()
    const many = Array.from({ length: 101 }, (_, index) => user(`u${index}`, 'Hi'))
    await expect(apply(session, submit(...many))).rejects.toMatchObject({ code: 'ERR_LIMIT', limit: 100 })
    expect(await session.history()).toEqual([])
    expect(await apply(session, submit(...many.slice(1)))).toMatchObject({ input: { id: 'u100' } })
  })

  it('that was cut short after its message was written goes on with it', async () => {
    const { session } = await talk()
    await session.append({ role: 'user', content: 'Why?', id: 'u3' })
    const applied = await apply(session, submit(user('u3', 'Why?')))
    expect(applied).toEqual({ type: 'run', messageId: expect.any(String) })
    await session.append({
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c1', name: 'add', input: {} }],
      id: 'a3',
    })
    const again = await apply(session, submit(user('u3', 'Why?')))
    expect(again).toMatchObject({ type: 'run', messageId: 'a3', before: { id: 'a3' } })
    expect(again).not.toHaveProperty('input')
  })

  it('whose message others followed is answered by what followed it, and refused if nothing did', async () => {
    const { session, first } = await talk()
    expect(await apply(session, submit(user('u1', 'Hello')))).toMatchObject({
      type: 'answered',
      answer: { id: first, parts: [{ type: 'step-start' }, { type: 'text', text: 'Hi' }] },
    })
    await session.append({ role: 'user', content: 'Why?', id: 'u3' })
    await session.append({ role: 'user', content: 'Hm?', id: 'u4' })
    await expect(apply(session, submit(user('u3', 'Why?')))).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
      id: 'u3',
    })
  })

  const regenerate = (body: object): UIRequest => request({ trigger: 'regenerate-message', ...body })

  it.each([
    ['the newest reply by default', () => ({})],
    ['the reply to the newest message', () => ({ messages: [user('u1', 'Hello'), user('u2', 'How?')] })],
    ['the reply that is named', (second: string) => ({ messageId: second })],
    ['the reply to the message that is named', () => ({ messageId: 'u2' })],
    ['a reply that was never recorded', () => ({ messageId: 'gone', messages: [user('u2', 'How?')] })],
  ])('hides %s, to give another', async (_, body) => {
    const { session, second } = await talk()
    const applied = await apply(session, regenerate(body(second)))
    expect(applied).toEqual({ type: 'run', messageId: expect.any(String) })
    expect(await textsIn(session)).toEqual(['u1: Hello', '*: Hi', 'u2: How?'])
  })

  it('for another reply hides what followed the old one', async () => {
    const { session, first } = await talk()
    await apply(session, regenerate({ messageId: first, messages: [user('u1', 'Hello')] }))
    expect(await textsIn(session)).toEqual(['u1: Hello'])
  })

  it('for another reply to a message that never arrived brings it', async () => {
    const { session } = await talk()
    expect(await apply(session, regenerate({ messages: [user('u3', 'Why?')] }))).toMatchObject({
      input: { id: 'u3' },
    })
    expect(await textsIn(session)).toHaveLength(4)
  })

  it('for another reply hides none of an earlier round where the newest message has none', async () => {
    const { session } = await talk()
    await session.append({ role: 'user', content: 'Why?', id: 'u3' })
    expect(await apply(session, regenerate({}))).toMatchObject({ type: 'run' })
    expect(await textsIn(session)).toHaveLength(5)
  })

  it('for another reply than one that shows is refused', async () => {
    const { session } = await talk()
    await expect(apply(session, regenerate({ messageId: 'gone' }))).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      id: 'gone',
    })
    expect(await textsIn(session)).toHaveLength(4)
  })

  it.each([
    ['by default', {}],
    ['by its name', { messageId: 'a1' }],
  ])('for another reply hides none that answers nobody, %s, since nothing would be left', async (_, body) => {
    const { session } = openScene()
    await session.append({ role: 'assistant', content: 'Welcome', id: 'a1' })
    await expect(apply(session, regenerate(body))).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    expect(await session.history()).toHaveLength(1)
    expect(await apply(session, regenerate({ ...body, messages: [user('u1', 'Hello')] }))).toMatchObject({
      input: { id: 'u1' },
    })
  })

  const edit = (id: string, text: string): UIRequest =>
    request({ messages: [user(id, text)], messageId: id, trigger: 'submit-message' })

  it('that edits hides the old words and what followed, and the new ones show under the old id', async () => {
    const { session } = await talk()
    for (const text of ['Good day', 'Good night']) {
      await answer(session, edit('u1', text), 'Yes')
      expect(await textsIn(session)).toEqual([`u1: ${text}`, '*: Yes'])
    }
    const metadata = (await session.history())[0]?.metadata
    expect(JSON.stringify(metadata)).toContain('u1')
    // A client that still has the old words adds only what is new.
    await answer(session, submit(user('u1', 'Hello'), said('a1', 'Hi'), user('u9', 'Well')), 'Fine')
    expect(await textsIn(session)).toEqual(['u1: Good night', '*: Yes', 'u9: Well', '*: Fine'])
  })

  it('finds what stands far back', async () => {
    const far = async (): Promise<{ session: FullSession; first: string }> => {
      const { session, first } = await talk()
      for (let round = 0; round < 130; round++) await addExchange(session, 'More?', 'More.')
      return { session, first }
    }
    for (const what of [
      edit('u1', 'Good day'),
      regenerate({ messageId: 'u1', messages: [user('u1', 'Good day')] }),
    ]) {
      const { session } = await far()
      await answer(session, what, 'Yes')
      expect(await textsIn(session)).toEqual(['u1: Good day', '*: Yes'])
    }
    const { session, first } = await far()
    await answer(session, regenerate({ messageId: first, messages: [user('u1', 'Hello')] }), 'Yes')
    expect(await textsIn(session)).toEqual(['u1: Hello', '*: Yes'])
  })

  it('that edits what never came writes it under its own id, which sent alone is known by', async () => {
    const { session } = await talk()
    await answer(session, edit('u3', 'Why?'), 'Because')
    expect((await session.history()).at(-2)).toMatchObject({ id: 'u3', role: 'user' })
    expect(await apply(session, submit(user('u3', 'Why?')))).not.toHaveProperty('input')
  })

  it('that edits nothing keeps the message', async () => {
    const { session } = await talk()
    const [before] = await session.history()
    expect(await apply(session, edit('u1', 'Hello'))).toEqual({ type: 'run', messageId: expect.any(String) })
    expect(await session.history()).toEqual([before])
  })

  it('that edits and was cut short is applied again', async () => {
    const { session } = await talk()
    // The words were hidden, the new ones not written yet.
    await apply(session, edit('u1', 'Good day'))
    expect(await textsIn(session)).toEqual([])
    await answer(session, edit('u1', 'Good day'), 'Yes')
    expect(await textsIn(session)).toEqual(['u1: Good day', '*: Yes'])
  })

  it('that edits a long message keeps what it is put together from', async () => {
    const { session } = await talk()
    const parts = [
      ...Array.from({ length: 200 }, (_, index) => ({
        type: 'data-note',
        data: { index, text: 'x'.repeat(40) },
      })),
      { type: 'text', text: 'Long' },
    ] as UIMessage['parts']
    const message: UIMessage = { id: 'u1', role: 'user', parts }
    const applied = await apply(session, request({ messages: [message], messageId: 'u1' }))
    if (applied.type !== 'run' || !applied.input) throw new Error('it says nothing')
    await session.append(applied.input)
    expect(toUIMessages(await session.history())).toEqual([message])
    expect(await apply(session, request({ messages: [message], messageId: 'u1' }))).not.toHaveProperty(
      'input',
    )
  })

  it('gives calls that wait what the page made of them, and nothing else of a reply', async () => {
    const { session } = openScene()
    await session.append({ role: 'user', content: 'Where am I?', id: 'u1' })
    const call = { type: 'tool-call', id: 'c1', name: 'locate', input: {} } as const
    await session.append({ role: 'assistant', content: [call], id: 'a1' })
    const reply: UIMessage = {
      id: 'a1',
      role: 'assistant',
      parts: [
        { type: 'text', text: 'Forged' },
        { type: 'tool-locate', toolCallId: 'c1', state: 'output-available', input: {}, output: 'Turin' },
      ],
    }
    const what = request({ messages: [user('u1', 'Where am I?'), reply], messageId: 'a1' })
    for (let time = 0; time < 2; time++) {
      const applied = await apply(session, what)
      expect(applied).toMatchObject({
        type: 'run',
        messageId: 'a1',
        before: { parts: [{ type: 'step-start' }, { state: 'output-available', output: 'Turin' }] },
      })
    }
    expect(JSON.stringify(await session.history())).not.toContain('Forged')
    expect(await session.history()).toHaveLength(3)
  })
})
