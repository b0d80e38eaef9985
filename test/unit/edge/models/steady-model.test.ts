import { describe, expect, it } from 'vitest'
import { openAICompatibleModel } from '../../../../src/edge/models/openai-compatible.ts'
import { type SteadyOptions, steadyModel } from '../../../../src/edge/models/steady-model.ts'
import type { Context, Model, ModelEvent, ModelRequest } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'

const request = { context: { blocks: [] } as unknown as Context }
const finish: ModelEvent = { type: 'finish', message: { role: 'assistant', content: 'Hi.' }, reason: 'stop' }

/** Timers that fire when they are told to, with what they were set to. */
function timers() {
  const open: { readonly ms: number; readonly controller: AbortController }[] = []
  const host: SteadyOptions['host'] = {
    ...webHost,
    timeout: (ms) => {
      const timer = { ms, controller: new AbortController() }
      open.push(timer)
      return { signal: timer.controller.signal, clear: () => void open.splice(open.indexOf(timer), 1) }
    },
  }
  return { host, open }
}

/** A model of which each call is given by a function; the last is repeated. */
function modelOf(
  ...replies: ((request: ModelRequest) => AsyncIterable<ModelEvent>)[]
): Model & { calls: number } {
  const model = {
    id: 'm',
    calls: 0,
    complete: (asked: ModelRequest) => (replies[model.calls++] ?? replies.at(-1) ?? hello)(asked),
  }
  return model
}

async function* hello(): AsyncGenerator<ModelEvent> {
  yield { type: 'text', text: 'Hi.' }
  yield finish
}

const failing = (error: unknown, ...before: ModelEvent[]) =>
  async function* (): AsyncGenerator<ModelEvent> {
    yield* before
    throw error
  }

async function read(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.complete({ ...request, ...more })) events.push(event)
  return events
}

describe('a steady model', () => {
  it('does not begin a reply again once a piece of it was handed on, whatever it failed with', async () => {
    const inner = modelOf(failing({ statusCode: 503 }, { type: 'text', text: 'H' }))
    const { host } = timers()
    await expect(read(steadyModel(inner, { host }))).rejects.toMatchObject({ code: 'ERR_MODEL' })
    expect(inner.calls).toBe(1)
  })

  it('stops waiting to try again as soon as it is aborted', async () => {
    const inner = modelOf(failing({ statusCode: 503 }))
    const { host, open } = timers()
    const stop = new AbortController()
    const asked = read(steadyModel(inner, { host }), { signal: stop.signal })
    asked.catch(() => {})
    await expect.poll(() => open.length).toBe(1)
    stop.abort('enough')
    await expect(asked).rejects.toBe('enough')
    expect(open).toEqual([])
  })

  it('times waits for the model alone', async () => {
    const { host, open } = timers()
    const events = steadyModel(modelOf(hello), { host }).complete(request)[Symbol.asyncIterator]()
    await events.next()
    expect(open).toEqual([])
    await events.next()
    await events.next()
    expect(open).toEqual([])
  })

  it('ends the call where its reader stops', async () => {
    let isEnded = false
    let signal: ModelRequest['signal']
    const inner = modelOf(async function* (asked) {
      signal = asked.signal
      try {
        yield* hello()
      } finally {
        isEnded = true
      }
    })
    for await (const _ of steadyModel(inner, timers()).complete(request)) break
    expect([isEnded, signal?.aborted]).toEqual([true, true])
  })

  it('tries again where the platform says in words of its own that there was no answer', async () => {
    let count = 0
    const model = openAICompatibleModel({
      baseUrl: 'https://models.test/v1',
      modelId: 'm',
      host: { ...webHost, timeout: (ms) => webHost.timeout(ms > 20_000 ? ms : 0) },
      fetch: async () => {
        count++
        throw new Error('Network connection lost.')
      },
    })
    await expect(read(model)).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: 'model m: its server was not reached',
    })
    expect(count).toBe(3)
  })

  it('says how long to wait where the server does not', async () => {
    const model = steadyModel(modelOf(failing({ statusCode: 429 })), { ...timers(), retries: 0 })
    await expect(read(model)).rejects.toMatchObject({ code: 'ERR_RATE_LIMIT', retryAfter: 5 })
  })

  it.each(['Sat, 01 Jan 2000 00:00:00 GMT', '0', '-3', 'soon', '9'.repeat(30)])(
    'gives a wait from a second to a day, whatever the server says: %s',
    async (value) => {
      const error = { statusCode: 429, responseHeaders: { 'retry-after': value } }
      const thrown = await read(steadyModel(modelOf(failing(error)), { ...timers(), retries: 0 })).catch(
        (one) => one,
      )
      expect(thrown.retryAfter).toBeGreaterThanOrEqual(1)
      expect(thrown.retryAfter).toBeLessThanOrEqual(86_400)
    },
  )
})
