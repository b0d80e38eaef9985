import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../../../src/client/events.ts'
import type { ChatChunk, ChatRun } from '../../../../src/client/index.ts'
import { runs } from '../../support/runs.ts'
import { type Answer, chunks, events, json, offline, problem, type Scene, scene } from './support.ts'

const reply = [
  { type: 'start', messageId: 'm2' },
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Hel' },
  { type: 'text-delta', id: '0', delta: 'lo 🚆' },
  { type: 'text-end', id: '0' },
  { type: 'finish', finishReason: 'stop' },
]
const done = 'data: [DONE]\n\n'
const whole = { run: 'r1', messageId: 'm2', text: 'Hello 🚆', finishReason: 'stop', isAborted: false }
const named = { headers: { 'plimsoll-run': 'r1' } }

const dataOf = async (pieces: readonly (string | Uint8Array)[]): Promise<string[]> => {
  const { body } = events(pieces)
  const found: string[] = []
  for await (const data of eventsIn(body as ReadableStream<Uint8Array>)) found.push(data)
  return found
}
const readAll = async (run: ChatRun): Promise<ChatChunk[]> => {
  const found: ChatChunk[] = []
  for await (const chunk of run) found.push(chunk)
  return found
}
const chat = (answers: readonly Answer[], options = {}): Scene & { readonly run: ChatRun } => {
  const made = scene(answers, options)
  return { ...made, run: made.client.session('trip').chat('Hi', { opId: 'mine' }) }
}
const paths = ({ sent }: Scene): string[] =>
  sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)

describe('server-sent events', () => {
  it.each([
    ['lines of data', 'data: a\ndata: b\n\n', ['a\nb']],
    ['data that is empty, or without a colon', 'data\n\ndata:\n\ndata\ndata\n\n', ['', '', '\n']],
    ['one space after the colon', 'data:a\n\ndata:  a\n\n', ['a', ' a']],
    ['comments and other fields', ': hello\nevent: x\nid: 7\nretry: 1\ndatabase: x\ndata: a\n\n', ['a']],
    ['blank lines', '\n\n\ndata: a\n\n\n\n', ['a']],
    ['a byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['an event that no blank line ended', 'data: a\n\ndata: b\n', ['a']],
    ['line separators of Unicode', 'data: a\u2028b\u0085c\n\n', ['a\u2028b\u0085c']],
  ])('have %s', async (_, text, data) => {
    expect(await dataOf([text])).toEqual(data)
  })

  it('are the same with any ends of lines, wherever the network cuts their bytes', async () => {
    const line = fc.constantFrom('data: é', 'data: 🚆 x', 'data:', ': c', '', '')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 }),
        fc.array(fc.nat(80), { maxLength: 8 }),
        async (lines, cuts) => {
          // Another line after it, so that a carriage return at the end is known for what it is.
          const bytes = new TextEncoder().encode(`${lines.map((pair) => pair.join('')).join('')}:\n`)
          const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
            (one, other) => one - other,
          )
          const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end))
          const expected: string[] = []
          let data: string[] = []
          let before = ''
          for (const [text, end] of lines) {
            // An empty line that ends with \n after one that ended with \r is no line, but the end
            // of that one.
            const isHalf = text === '' && end === '\n' && before === '\r'
            before = end
            if (isHalf) continue
            if (text.startsWith('data')) data.push(text.slice(5).trimStart())
            if (text !== '') continue
            if (data.length > 0) expected.push(data.join('\n'))
            data = []
          }
          expect(await dataOf(pieces)).toEqual(expected)
        },
      ),
      runs(100),
    )
  })
})

describe('a chat', () => {
  it('posts what useChat posts, and gives the chunks as they come, then the result', async () => {
    const made = chat([events([...chunks(...reply), done], named)])
    expect(made.run.run).toBe('current')
    expect(await readAll(made.run)).toEqual(reply)
    expect(await made.run.result()).toEqual(whole)
    expect(made.run.run).toBe('r1')
    expect(paths(made)).toEqual(['POST /v1/sessions/trip/chat'])
    expect(made.sent[0]?.headers.get('accept')).toBe('text/event-stream')
    expect(made.sent[0]?.headers.get('idempotency-key')).toBe('mine')
    expect(JSON.parse(made.sent[0]?.body ?? '')).toEqual({
      id: 'trip',
      trigger: 'submit-message',
      messages: [{ id: 'op-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  it('gives its result to a caller that reads no chunk', async () => {
    const { run } = chat([events([...chunks(...reply), done], named)])
    expect(await run.result()).toEqual(whole)
  })

  it('sends what the app adds, other messages, and asks for replies again', async () => {
    const { client, sent } = scene([() => events([done])])
    const session = client.session('trip')
    await session
      .chat({ id: 'm7', parts: [{ type: 'file', url: 'x' }] }, { body: { some_model: 1 } })
      .result()
    await session.chat({ regenerate: 'm2' }).result()
    await session.chat({ regenerate: true }).result()
    expect(sent.map(({ body }) => JSON.parse(body ?? ''))).toEqual([
      {
        some_model: 1,
        id: 'trip',
        trigger: 'submit-message',
        messages: [{ id: 'm7', role: 'user', parts: [{ type: 'file', url: 'x' }] }],
      },
      { id: 'trip', trigger: 'regenerate-message', messages: [], messageId: 'm2' },
      { id: 'trip', trigger: 'regenerate-message', messages: [] },
    ])
  })

  it('tells texts of several steps apart, though their ids start again', async () => {
    const step = (delta: string): object[] => [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta },
    ]
    const { run } = chat([events([...chunks(...step('One.'), ...step('Two.')), done])])
    expect((await run.result()).text).toBe('One.\n\nTwo.')
  })

  it('posts again under the same op id while there is no answer', async () => {
    const made = chat([offline, events([...chunks(...reply), done], named)])
    expect(await made.run.result()).toEqual(whole)
    expect(made.sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', 'mine'])
    expect(made.sent[0]?.body).toBe(made.sent[1]?.body)
  })

  it('goes on after any cut, at any byte, without a chunk twice or a chunk less', async () => {
    const told = chunks(...reply).join('') + done
    const bytes = new TextEncoder().encode(told)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), fc.nat(bytes.length), fc.boolean(), async (one, other, cut) => {
        const made = chat([
          events([bytes.slice(0, one)], { cut, ...named }),
          events([bytes.slice(0, other)], { cut }),
          events([told]),
        ])
        expect(await readAll(made.run)).toEqual(reply)
        expect(await made.run.result()).toEqual(whole)
        for (const path of paths(made).slice(1)) expect(path).toBe('GET /v1/sessions/trip/chat/r1')
      }),
      runs(100),
    )
  })

  it('learns its end even if the run tells less of itself than it did', async () => {
    const lost = { type: 'error', errorText: 'ERR_INTERRUPTED: ask for it again' }
    const { run } = chat([
      events(chunks(...reply.slice(0, 4)), { cut: true, ...named }),
      events([...chunks(reply[0] as object, lost), done]),
    ])
    expect(await readAll(run)).toEqual([...reply.slice(0, 4), lost])
    await expect(run.result()).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
  })

  it('is given up when it is cut again and again with nothing new', async () => {
    const made = chat([() => events(chunks(...reply.slice(0, 3)), { cut: true, ...named })])
    await expect(readAll(made.run)).rejects.toMatchObject({ code: 'ERR_INTERRUPTED', id: 'r1' })
    await expect(made.run.result()).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
    expect(made.sent).toHaveLength(4)
    expect(made.waits).toEqual([150, 300, 600])
  })

  it('is not given up while each try brings something new', async () => {
    const rounds = reply.map((_, count) => () => events(chunks(...reply.slice(0, count + 1)), { cut: true }))
    const { run } = chat(rounds, { retry: { retries: 1 } })
    expect(await readAll(run)).toEqual(reply)
  })

  it('has the code that its last chunk says', async () => {
    const ending = async (errorText: string): Promise<unknown> => {
      const { run } = chat([
        events([...chunks(reply[0] as object, { type: 'error', errorText }), done], named),
      ])
      expect(await readAll(run)).toHaveLength(2)
      return run.result().catch((error: unknown) => error)
    }
    expect(await ending('ERR_RATE_LIMIT: the budget is used up')).toMatchObject({ code: 'ERR_RATE_LIMIT' })
    expect(await ending('Something went wrong.')).toMatchObject({ code: 'ERR_MODEL' })
  })

  it('says that it was stopped', async () => {
    const { run } = chat([events([...chunks(...reply.slice(0, 3), { type: 'abort' }), done], named)])
    expect(await run.result()).toEqual({ ...whole, text: 'Hel', finishReason: undefined, isAborted: true })
  })

  it('ends the connection when the loop is left, and has no result then', async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(chunks(...reply).join(''))),
      cancel: () => {
        isCancelled = true
      },
    })
    const { run, sent } = chat([() => new Response(body)])
    for await (const _ of run) break
    expect(isCancelled).toBe(true)
    await expect(run.result()).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
    expect(sent).toHaveLength(1)
  })

  it('ends the connection, not the run, when it is aborted in the middle', async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) =>
        controller.enqueue(new TextEncoder().encode(chunks(...reply.slice(0, 3)).join(''))),
      cancel: () => {
        isCancelled = true
      },
    })
    const { client, sent } = scene([() => new Response(body)], { retry: { retries: 0 } })
    const controller = new AbortController()
    const reason = new Error('enough')
    const run = client.session('trip').chat('Hi', { signal: controller.signal })
    const reading = (async () => {
      for await (const chunk of run)
        if (chunk.type === 'text-delta') setTimeout(() => controller.abort(reason))
    })()
    await expect(reading).rejects.toBe(reason)
    await expect(run.result()).rejects.toBe(reason)
    expect(isCancelled).toBe(true)
    expect(sent).toHaveLength(1)
  })

  it('rejects no promise that nobody asked for', async () => {
    const { run } = chat([problem(400, {})])
    await expect(readAll(run)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    // Vitest fails on rejections that nobody handles.
    await new Promise((resolve) => setTimeout(resolve, 5))
  })
})

describe('a run', () => {
  it('is read again from its beginning, by default the one that goes on', async () => {
    const { client, ...made } = scene([() => events([...chunks(...reply), done], named)])
    expect(await client.session('trip').resumeChat('r1').result()).toEqual(whole)
    expect(await client.session('trip').resumeChat().result()).toEqual(whole)
    expect(paths({ client, ...made })).toEqual([
      'GET /v1/sessions/trip/chat/r1',
      'GET /v1/sessions/trip/chat/current',
    ])
  })

  it('that is not there any more is ERR_NOT_FOUND', async () => {
    const { client } = scene([() => new Response(null, { status: 204 })])
    await expect(client.session('trip').resumeChat().result()).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
  })

  it('is not there either where a browser gives an answer without content an empty body', async () => {
    // Chromium does; a Response that is made with this status may have none.
    const empty = () => Object.defineProperty(new Response(''), 'status', { value: 204 })
    const { client, sent } = scene([empty])
    await expect(client.session('trip').resumeChat().result()).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
    expect(sent).toHaveLength(1)
  })

  it('is stopped by its id, by default the one that goes on', async () => {
    const { client, ...made } = scene([json({ stopped: true })])
    await client.session('trip').stopChat('r/1')
    await client.session('trip').stopChat()
    expect(paths({ client, ...made })).toEqual([
      'DELETE /v1/sessions/trip/chat/r%2F1',
      'DELETE /v1/sessions/trip/chat/current',
    ])
  })
})
