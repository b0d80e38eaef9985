import { describe, expect, it, vi } from 'vitest'
import { type AdmitOptions, admit } from '../../../../../src/edge/turn/completions/admit.ts'
import { sentItems } from '../../../../../src/edge/turn/completions/items.ts'
import { readCompletionRequest } from '../../../../../src/edge/turn/completions/request.ts'
import { type MessageInput, mapStore } from '../../../../../src/index.ts'
import { forget } from '../../../../../src/operations/forget/forget.ts'
import { rewind } from '../../../../../src/operations/rewind.ts'
import { type FullSession, fullMemory } from '../../../../contract/full-memory.ts'
import { HEADS } from '../../../../everywhere/pictures.ts'
import { logOf } from '../../../support/chat-client.ts'

const user = (content: string) => ({ role: 'user', content }) as const
const said = (content: string) => ({ role: 'assistant', content }) as const
const called = (...ids: string[]) => ({
  role: 'assistant' as const,
  tool_calls: ids.map((id) => ({
    id,
    type: 'function' as const,
    function: { name: 'search', arguments: '{}' },
  })),
})
const result = (tool_call_id: string, content = '9:40') => ({ role: 'tool', tool_call_id, content }) as const
const stored = (...ids: string[]): MessageInput => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'search', input: {} })),
})

async function sessionOf(...messages: MessageInput[]): Promise<FullSession> {
  const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
  for (const message of messages) await session.append(message)
  return session
}

const send = async (session: FullSession, messages: readonly object[], options: AdmitOptions = {}) =>
  admit(session, sentItems(readCompletionRequest({ model: 'm', messages }).messages), options)

describe('what a client sends', () => {
  it('is new where it is one message, also one that was answered before', async () => {
    const session = await sessionOf(user('yes'), said('Sure.'))
    await send(session, [user('yes')])
    expect(await logOf(session)).toEqual(['user: yes', 'assistant: Sure.', 'user: yes'])
    await send(session, [user('yes')])
    expect(await logOf(session)).toHaveLength(3)
  })

  it('may have a summary in place of what is older', async () => {
    const session = await sessionOf(user('One?'), said('A1'), user('Two?'), said('A2'))
    await send(session, [
      user('Summary: we counted.'),
      said('I see.'),
      user('Two?'),
      said('A2'),
      user('Three?'),
    ])
    expect((await logOf(session)).slice(3)).toEqual(['assistant: A2', 'user: Three?'])
  })

  it('is written once where a history with such a summary is sent again, and edits are found in it', async () => {
    const session = await sessionOf(user('One?'), said('A1'), user('Two?'), said('A2'))
    const history = [user('Summary: we counted.'), said('I see.'), user('Two?'), said('A2')]
    await send(session, [...history, user('Three?')])
    await send(session, [...history, user('Three?')])
    expect((await logOf(session)).slice(4)).toEqual(['user: Three?'])
    await send(session, [...history, user('Three!')])
    expect((await logOf(session)).slice(4)).toEqual(['user: Three!'])
  })

  it('is the log where the client has put other words into its replies, as far as it begins like it', async () => {
    const session = await sessionOf(user('One?'), said('A1 [1]'), user('Two?'), said('A2 [1]'))
    await send(session, [user('One?'), said('A1'), user('Two?'), said('A2'), user('Three?')])
    expect(await logOf(session)).toEqual([
      'user: One?',
      'assistant: A1',
      'user: Two?',
      'assistant: A2',
      'user: Three?',
    ])
    const other = await sessionOf(user('One?'), said('A1 [1]'), user('Two?'), said('A2 [1]'))
    await send(other, [user('Two?'), said('A2'), user('Three?')])
    expect((await logOf(other)).slice(3)).toEqual(['assistant: A2 [1]', 'user: Three?'])
  })

  it('hides as little as can be meant', async () => {
    const start = [user('Hi.'), said('Hi.')]
    const session = await sessionOf(...start, user('One?'), said('A1'), ...start, user('Two?'), said('A2'))
    await send(session, [...start, user('Three?')])
    expect((await logOf(session)).slice(3)).toEqual([
      'assistant: A1',
      'user: Hi.',
      'assistant: Hi.',
      'user: Three?',
    ])
  })

  it('keeps who said it', async () => {
    const session = await sessionOf()
    await send(session, [{ ...user('Hi.'), name: 'ada' }, said('Hi.'), { ...user('So?'), name: null }])
    expect((await session.history()).map(({ name }) => name)).toEqual(['ada', undefined, undefined])
  })

  it('is written from its newest message on where nothing of it is known', async () => {
    const session = await sessionOf(user('One?'), said('A1'))
    await send(session, [user('Elsewhere?'), said('B1'), user('Two?')])
    expect((await logOf(session)).slice(2)).toEqual(['user: Two?'])
    const other = await sessionOf(user('One?'), said('A1'))
    await send(other, [user('Elsewhere?'), called('b'), result('b')])
    expect((await logOf(other)).slice(2)).toEqual(['assistant: b search({})', 'tool: b = "9:40"'])
  })

  it('takes back what stands unanswered where its history no longer has that', async () => {
    const session = await sessionOf(user('One?'), said('A1'), user('Two'))
    await send(session, [user('One?'), said('A1'), user('Two?')])
    expect(await logOf(session)).toEqual(['user: One?', 'assistant: A1', 'user: Two?'])
  })

  it('may leave out replies that say nothing, and is compared without instructions of the log', async () => {
    const session = await sessionOf(
      { role: 'system', content: 'Be kind.' },
      user('One?'),
      said(''),
      user('Two?'),
      said('A2'),
    )
    await send(session, [user('One?'), user('Two?'), said('A2'), user('Three?')])
    expect((await logOf(session)).slice(-2)).toEqual(['assistant: A2', 'user: Three?'])
  })

  it('may be an edit of a step of which one message holds several results', async () => {
    const both: MessageInput = {
      role: 'tool',
      content: ['a', 'b'].map((callId) => ({ type: 'tool-result', callId, output: '9:40' })),
    }
    const session = await sessionOf(user('When?'), stored('a', 'b'), both, said('At 9:40.'))
    await send(session, [user('When?'), called('a', 'b'), result('a'), result('b', '9:50')])
    expect((await logOf(session)).slice(2)).toEqual(['tool: a = "9:40"', 'tool: b = "9:50"'])
  })

  it('may be an edit far back, of which the client sends no more than what is before it', async () => {
    const session = await sessionOf()
    const history: ReturnType<typeof user | typeof said>[] = []
    for (let round = 0; round < 40; round++) history.push(user('yes'), said(`A${round}`))
    await session.append(history)
    await send(session, [...history.slice(0, 4), user('no')])
    expect(await logOf(session)).toHaveLength(5)
    await send(session, [...history.slice(2, 4), user('or yes')])
    expect((await logOf(session)).at(-1)).toBe('user: or yes')
    expect(await logOf(session)).toHaveLength(5)
  })

  it('needs no more of the log than was sent', async () => {
    const session = await sessionOf()
    const history: ReturnType<typeof user | typeof said>[] = []
    for (let round = 0; round < 40; round++) history.push(user('yes'), said('Sure.'))
    await session.append(history)
    const read = vi.spyOn(session, 'history')
    await send(session, [...history.slice(-4), user('yes')])
    expect(read.mock.calls).toEqual([[{ messages: 7 }]])
  })
})

describe('results of calls', () => {
  it('are taken once, in any order', async () => {
    const session = await sessionOf(user('When?'), stored('a', 'b'))
    await send(session, [result('b'), result('a')])
    await send(session, [result('a'), result('b')])
    expect((await logOf(session)).slice(2)).toEqual(['tool: b = "9:40"', 'tool: a = "9:40"'])
  })

  it.each([
    ['no such call', [result('x')], 'messages[0].tool_call_id'],
    ['a call that is answered already', [result('a', 'other')], 'messages[0].tool_call_id'],
    ['the same call twice', [user('?'), called('c'), result('c'), result('c')], 'messages[3].tool_call_id'],
  ])('are refused, and nothing is written, where they answer %s', async (_, messages, argument) => {
    const session = await sessionOf(user('When?'), stored('a'), {
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'a', output: '9:40' }],
    })
    await expect(send(session, messages)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument })
    expect(await logOf(session)).toHaveLength(3)
  })

  it('are refused, and nothing is written or hidden, where some are missing', async () => {
    const session = await sessionOf(user('When?'), stored('a', 'b'), said('Later.'))
    const messages = [user('When?'), called('a', 'b'), result('a')]
    await expect(send(session, messages)).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
    expect(await logOf(session)).toHaveLength(3)
  })

  it('may never come: saying something else gives the calls up', async () => {
    const session = await sessionOf(user('When?'), stored('a'))
    await send(session, [user('Never mind.')])
    expect((await logOf(session)).at(-1)).toBe('user: Never mind.')
  })
})

describe('a request that is repeated', () => {
  const log = [user('yes'), said('Sure.'), user('yes'), said('Sure again.')]

  it('is given its reply where the client says so, and is a new one where not', async () => {
    const session = await sessionOf(...log)
    expect((await send(session, [user('yes')], { isRetry: true })).reply).toMatchObject(said('Sure again.'))
    expect(await send(session, [user('yes')])).not.toHaveProperty('reply')
    expect(await logOf(session)).toHaveLength(5)
  })

  it('is known by its key, later too, and another one with the same words is not', async () => {
    const session = await sessionOf()
    for (const [key, reply] of [
      ['k1', 'A1'],
      ['k2', 'A2'],
    ] as const) {
      expect(await send(session, [user('yes')], { idempotencyKey: key, isRetry: true })).not.toHaveProperty(
        'reply',
      )
      await session.append(said(reply))
    }
    expect((await send(session, [user('yes')], { idempotencyKey: 'k2' })).reply).toMatchObject(said('A2'))
    expect((await send(session, [user('yes')], { idempotencyKey: 'k1' })).reply).toMatchObject(said('A1'))
    expect(await logOf(session)).toHaveLength(4)
  })

  it('is known by its key where a whole history comes late, and nothing is hidden for it', async () => {
    const session = await sessionOf()
    const history: object[] = []
    for (let round = 0; round < 8; round++) {
      await send(session, [...history, user('yes')], { idempotencyKey: `k${round}` })
      await session.append(said(`A${round}`))
      history.push(user('yes'), said(`A${round}`))
    }
    const { reply } = await send(session, history.slice(0, 3), { idempotencyKey: 'k1' })
    expect(reply).toMatchObject(said('A1'))
    expect(await logOf(session)).toHaveLength(16)
  })

  it('is refused where its key names a message that shows no more', async () => {
    const session = await sessionOf()
    await send(session, [user('yes')], { idempotencyKey: 'k1' })
    const [message] = await session.history()
    await rewind(session, message?.id ?? '')
    await expect(send(session, [user('yes')], { idempotencyKey: 'k1' })).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
  })
})

describe('a picture', () => {
  const picture = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })

  it('is the same picture when it is sent again', async () => {
    const session = await sessionOf()
    const url = `data:image/png;base64,${btoa(`${HEADS['image/png']}one`)}`
    await send(session, [picture(url)])
    await session.append([said('A dot.'), user('Sure?'), said('Yes.')])
    await send(session, [picture(url), said('A dot.'), user('Really?')])
    expect(await logOf(session)).toEqual(['user: [media]', 'assistant: A dot.', 'user: Really?'])
  })

  it('is attached under an id that says nothing of it', async () => {
    const url = `data:image/png;base64,${btoa(`${HEADS['image/png']}one`)}`
    const [one, other] = [await sessionOf(), await sessionOf()]
    for (const session of [one, other]) await send(session, [picture(url)])
    const refOf = async (session: typeof one) => JSON.stringify((await session.history())[0]?.content)
    expect(await refOf(one)).not.toBe(await refOf(other))
  })

  it('is attached again where it was forgotten', async () => {
    const session = await sessionOf()
    const url = `data:image/png;base64,${btoa(`${HEADS['image/png']}one`)}`
    await send(session, [picture(url)])
    const [message] = await session.history()
    await forget(session, message?.id ?? '')
    await send(session, [picture(url)])
    expect(await logOf(session)).toEqual(['user: [media]'])
  })

  it('is refused where it is not base64', async () => {
    const session = await sessionOf()
    await expect(send(session, [picture('data:image/png;base64,%%%')])).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'messages[0].content',
    })
  })

  it('is refused where its bytes are not of its type', async () => {
    const session = await sessionOf()
    await expect(send(session, [picture(`data:image/png;base64,${btoa('one')}`)])).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'messages[0].content',
    })
    expect(await logOf(session)).toEqual([])
  })

  it('stays an address where it was one', async () => {
    const session = await sessionOf()
    await send(session, [picture('https://pictures.test/dot.png')])
    expect((await session.history())[0]).toMatchObject({
      content: [{ type: 'media', url: 'https://pictures.test/dot.png' }],
    })
  })
})
