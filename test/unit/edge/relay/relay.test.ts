import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MOST_FRAME } from '../../../../src/edge/relay/frames.ts'
import { hookedModel } from '../../../../src/edge/turn/hooked-model.ts'
import type { Context } from '../../../../src/ports/context.ts'
import type { Model, ModelEvent, ModelRequest } from '../../../../src/ports/model.ts'
import { codePoint } from '../../../everywhere/code-point.ts'
import { runs } from '../../../everywhere/runs.ts'
import { ID, wire } from './wire.ts'

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const tick = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** An answer in pieces, of which the rest comes after a wait. */
function inPieces(pieces: readonly string[], rest?: Promise<void>): Response {
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const [index, piece] of pieces.entries()) {
          if (index > 0) await rest
          controller.enqueue(bytes(piece))
        }
        controller.close()
      },
    }),
    { status: 203, headers: { 'Content-Type': 'text/event-stream', 'Content-Length': '3' } },
  )
}

describe('a request that the Worker makes', () => {
  it('is the one that the object asked for, and so is its answer, whatever its pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: codePoint, minLength: 1 }), { maxLength: 8 }),
        fc.oneof(fc.string({ unit: codePoint }), fc.constantFrom('', '\n', '{"a":\n"b"}\n')),
        async (pieces, body) => {
          const asked: unknown[] = []
          const { relays } = wire({
            fetch: async (url, init) => {
              asked.push([url, init?.method, new Headers(init?.headers).get('a'), init?.body, init?.redirect])
              return inPieces(pieces)
            },
          })
          const { fetch } = await relays.of(ID)
          const init = { method: 'POST', headers: { a: 'b' }, body, redirect: 'manual' } as const
          const answer = await fetch('https://model.example/v1', init)
          expect(asked).toEqual([['https://model.example/v1', 'POST', 'b', body, 'manual']])
          expect(answer.status).toBe(203)
          expect([...answer.headers]).toEqual([['content-type', 'text/event-stream']])
          const whole = new TextDecoder().decode(await answer.arrayBuffer())
          expect(whole).toBe(new TextDecoder().decode(bytes(pieces.join(''))))
        },
      ),
      runs(50),
    )
  })

  it('is made beside others, each with its own answer, bodies or none', async () => {
    const { relays } = wire({
      fetch: async (url) =>
        String(url).endsWith('0')
          ? new Response(null, { status: 204 })
          : inPieces([String(url), '!'], tick(1)),
    })
    const { fetch } = await relays.of(ID)
    const answers = await Promise.all([0, 1, 2].map((n) => fetch(`https://a.example/${n}`)))
    expect(answers.map(({ status }) => status)).toEqual([204, 203, 203])
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual([
      '',
      'https://a.example/1!',
      'https://a.example/2!',
    ])
  })

  it('comes with its first pieces at once, and with the others some together', async () => {
    const last = gate()
    const rest = Array.from({ length: 50 }, (_, index) => ` ${index}`)
    const { relays, worker } = wire({ fetch: async () => inPieces(['first', ...rest], last.opened) })
    const answer = await (await relays.of(ID)).fetch('https://a.example/')
    const reader = answer.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first')
    last.open()
    while (!(await reader?.read())?.done);
    const binary = worker.sent.filter((frame) => typeof frame !== 'string')
    expect(binary.length).toBeLessThan(9)
  })

  it('begins with its first piece, in one frame, or with its end', async () => {
    const first = gate()
    const { relays, worker } = wire({
      fetch: async (url) =>
        String(url).endsWith('0')
          ? new Response(null, { status: 204 })
          : new Response(
              new ReadableStream({
                async start(controller) {
                  await first.opened
                  controller.enqueue(bytes('first'))
                  controller.close()
                },
              }),
            ),
    })
    const { fetch } = await relays.of(ID)
    expect((await fetch('https://a.example/0')).status).toBe(204)
    expect(worker.sent).toHaveLength(2)
    const asked = fetch('https://a.example/1')
    await tick()
    expect(worker.sent).toHaveLength(2)
    first.open()
    expect(await (await asked).text()).toBe('first')
    expect(worker.sent.map((frame) => typeof frame)).toEqual(['object', 'string', 'object', 'string'])
  })

  it('comes whole in frames that have an end, unless its headers have no place in one', async () => {
    const text = 'x'.repeat(2 * MOST_FRAME + 1)
    const { relays, worker } = wire({
      fetch: async (url) =>
        String(url).endsWith('1')
          ? new Response('', { headers: { a: 'x'.repeat(MOST_FRAME) } })
          : inPieces(['one', 'two', 'three', 'four', 'five', text]),
    })
    const { fetch } = await relays.of(ID)
    expect(await (await fetch('https://a.example/')).text()).toBe(`onetwothreefourfive${text}`)
    const sizes = worker.sent.map((frame) => (typeof frame === 'string' ? 0 : frame.byteLength))
    expect(Math.max(...sizes)).toBe(MOST_FRAME + 4)
    await expect(fetch('https://a.example/1')).rejects.toThrow(TypeError)
    expect(await (await fetch('https://a.example/')).text()).toContain('five')
  })

  it('that reaches nobody, or breaks off, fails', async () => {
    const { relays } = wire({
      fetch: async (url) => {
        if (String(url).endsWith('1')) throw new TypeError('no connection')
        return new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue(bytes('half'))
              setTimeout(() => controller.error(new Error('reset')))
            },
          }),
        )
      },
    })
    const { fetch } = await relays.of(ID)
    await expect(fetch('https://a.example/1')).rejects.toThrow(TypeError)
    await expect((await fetch('https://a.example/2')).text()).rejects.toThrow(TypeError)
  })

  it('is refused where its answer is none', async () => {
    const odd = { status: 999, headers: new Headers(), body: null } as Response
    const { relays } = wire({ fetch: async () => odd })
    await expect((await relays.of(ID)).fetch('https://a.example/')).rejects.toThrow(RangeError)
  })

  it('ends in the Worker where nobody waits for it, before its answer and in the middle of it', async () => {
    const never = gate()
    const signals: (AbortSignal | null | undefined)[] = []
    const { relays } = wire({
      fetch: async (url, init) => {
        signals.push(init?.signal)
        if (String(url).endsWith('1')) await never.opened
        return inPieces(['some', 'more'], never.opened)
      },
    })
    const { fetch } = await relays.of(ID)
    const first = new AbortController()
    const asked = fetch('https://a.example/1', { signal: first.signal })
    const second = new AbortController()
    const answer = await fetch('https://a.example/2', { signal: second.signal })
    const left = await fetch('https://a.example/3')
    first.abort(new Error('one'))
    second.abort(new Error('two'))
    await left.body?.cancel()
    await expect(asked).rejects.toThrow('one')
    await expect(answer.text()).rejects.toThrow('two')
    await expect.poll(() => signals.map((signal) => signal?.aborted)).toEqual([true, true, true])
    await expect(fetch('https://a.example/4', { signal: first.signal })).rejects.toThrow('one')
    expect(signals).toHaveLength(3)
    never.open()
  })
})

describe('a request that the object makes itself', () => {
  const here =
    (asked: unknown[]): typeof fetch =>
    async (url) => {
      asked.push(url)
      return new Response('here')
    }

  it('is one that has no place in a frame', async () => {
    const asked: unknown[] = []
    const { relays } = wire({ fetchHere: here(asked), fetch: async () => new Response('there') })
    const { fetch } = await relays.of(ID)
    const requests: readonly (readonly [string | Request, RequestInit?])[] = [
      ['https://a.example/', { method: 'POST', body: 'x'.repeat(500_001) }],
      ['https://a.example/', { method: 'POST', body: bytes('x') }],
      [new Request('https://a.example/')],
      ['https://a.example/', { method: 'POST', body: 'x'.repeat(500_000) }],
    ]
    const answers = await Promise.all(requests.map(([input, init]) => fetch(input, init)))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(texts).toEqual(['here', 'here', 'here', 'there'])
  })

  it('is one whose Worker went before its answer, or is gone', async () => {
    const asked: unknown[] = []
    const never = gate()
    const { relays, worker } = wire({
      fetchHere: here(asked),
      fetch: () => never.opened.then(() => inPieces([])),
    })
    const { fetch } = await relays.of(ID)
    const waiting = fetch('https://a.example/1')
    await tick()
    worker.close()
    expect(await (await waiting).text()).toBe('here')
    expect(await (await fetch('https://a.example/2')).text()).toBe('here')
    expect(asked).toEqual(['https://a.example/1', 'https://a.example/2'])
    await expect(relays.of(ID)).rejects.toMatchObject({ code: 'ERR_OVERLOADED', retryAfter: 1 })
  })

  it('is one whose Worker has been silent for more than twenty seconds', async () => {
    let now = 0
    const never = gate()
    const { relays } = wire({
      fetchHere: here([]),
      fetch: () => never.opened.then(() => inPieces([])),
      now: () => now,
    })
    const waiting = (await relays.of(ID)).fetch('https://a.example/')
    now = 20_000
    relays.beat()
    await tick()
    expect(await Promise.race([waiting, 'it waits'])).toBe('it waits')
    now = 20_001
    relays.beat()
    expect(await (await waiting).text()).toBe('here')
  })
})

/** A model over `fetch`: each line of the answer is a word. */
const lines = (fetch: typeof globalThis.fetch): Model => ({
  id: 'lines',
  async *complete() {
    const answer = await fetch('https://a.example/')
    let text = ''
    for await (const piece of answer.body ?? []) {
      const word = new TextDecoder().decode(piece)
      text += word
      yield { type: 'text', text: word }
    }
    yield { type: 'finish', message: { role: 'assistant', content: text }, reason: 'stop' }
  },
})

const context = { receipt: { used: 0 } } as Context

async function eventsOf(
  model: Model,
  request: Partial<ModelRequest> = {},
  events: ModelEvent[] = [],
): Promise<ModelEvent[]> {
  for await (const event of model.complete(request as ModelRequest)) events.push(event)
  return events
}

describe('a reply whose Worker goes in the middle of it', () => {
  it('is asked for again, and told whole at its end', async () => {
    const never = gate()
    const { relays, worker } = wire({
      fetch: async () => inPieces(['One', ' two'], never.opened),
      fetchHere: async () => inPieces(['Another', ' one']),
    })
    const relay = await relays.of(ID)
    const heard: ModelEvent[] = []
    const model = hookedModel(relay.outlived(lines(relay.fetch)), {})
    const events = eventsOf(model, { context }, heard)
    await expect.poll(() => heard).toHaveLength(1)
    worker.close()
    expect(await events).toEqual([
      { type: 'text', text: 'One' },
      { type: 'finish', message: { role: 'assistant', content: 'Another one' }, reason: 'stop' },
    ])
  })

  it('is not asked for again where it was stopped, nor where it failed by itself', async () => {
    let asked = 0
    const broken = async (): Promise<Response> => {
      asked++
      throw new TypeError('no connection')
    }
    const { relays, worker } = wire({ fetch: broken, fetchHere: broken })
    const relay = await relays.of(ID)
    const model = hookedModel(relay.outlived(lines(relay.fetch)), {})
    const failing = { cause: expect.any(TypeError) }
    await expect(eventsOf(model, { context })).rejects.toMatchObject(failing)
    expect(asked).toBe(1)
    worker.close()
    await tick()
    const stopped = new AbortController()
    stopped.abort()
    await expect(eventsOf(model, { context, signal: stopped.signal })).rejects.toMatchObject(failing)
    expect(asked).toBe(2)
    // The Worker had gone before.
    await expect(eventsOf(model, { context })).rejects.toMatchObject(failing)
    expect(asked).toBe(3)
  })
})

describe('the stream of a chat', () => {
  it('goes over the relay whole, and ends it', async () => {
    const text = 'word '.repeat(200_000)
    const { relays, served, object } = wire()
    const relay = await relays.of(ID)
    await relay.carry(new Response(text).body as ReadableStream<Uint8Array>)
    expect(await new Response(served.stream).text()).toBe(text)
    await served.ended
    const sizes = object.sent.map((frame) => (typeof frame === 'string' ? 0 : frame.byteLength))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 ** 18)
  })

  it('is no whole one where the object goes, or cannot read it', async () => {
    for (const cut of ['goes', 'breaks'] as const) {
      const { relays, served, object } = wire()
      const relay = await relays.of(ID)
      let fail = (_: Error): void => {}
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          fail = (error) => controller.error(error)
          controller.enqueue(bytes('One'))
        },
      })
      void relay.carry(stream)
      const read = new Response(served.stream).text()
      await tick()
      if (cut === 'goes') object.close()
      else fail(new Error('no key'))
      await expect(read).rejects.toThrow()
      await served.ended
    }
  })

  it('may be left, and what the object asks for is done all the same', async () => {
    const { relays, served } = wire({ fetch: async () => inPieces(['still here']) })
    const relay = await relays.of(ID)
    await served.stream.cancel()
    void relay.carry(new ReadableStream({ start: (controller) => controller.enqueue(bytes('One')) }))
    expect(await (await relay.fetch('https://a.example/')).text()).toBe('still here')
    served.close()
    await served.ended
  })
})

describe('a Worker that serves a chat', () => {
  it('says that it is there, to its object and to its caller, for as long as it goes on', async () => {
    const { served, beats } = wire({ keepAlive: ': still here' })
    const reader = served.stream.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(': still here')
    expect(beats()).toBeGreaterThanOrEqual(2)
    served.close()
    expect((await reader.read()).done).toBe(true)
    await tick()
    const before = beats()
    await tick(250)
    expect(beats()).toBe(before)
  })

  it('is told to end where the object was restarted, which knows nothing of it', async () => {
    const { relays, served, object, worker } = wire()
    relays.closed(object as never)
    const read = new Response(served.stream).text()
    worker.send(JSON.stringify({ type: 'beat' }))
    await expect(read).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
  })
})
