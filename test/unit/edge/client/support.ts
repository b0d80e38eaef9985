import { type Client, type ClientOptions, createClient, RequestError } from '../../../../src/client/index.ts'
import type { Problem } from '../../../../src/ports/wire.ts'

/** A request as it was sent. */
export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: string | undefined
  readonly signal: AbortSignal
  readonly redirect: RequestInit['redirect']
}

/** What a request is answered with; a function is asked with the request. `undefined`: never. */
export type Answer = Response | Error | undefined | ((sent: Sent) => Response | Promise<Response>)

export interface Scene {
  readonly client: Client
  readonly sent: Sent[]
  /** Waits between requests, in milliseconds; they end at once, time going on. */
  readonly waits: number[]
  /** How many timers run. */
  timers(): number
  /** Lets so many milliseconds pass. */
  pass(ms: number): void
}

/** A client over answers that come one after the other, the last one again and again. */
export function scene(answers: readonly Answer[], options: Partial<ClientOptions> = {}): Scene {
  const sent: Sent[] = []
  const waits: number[] = []
  let ids = 0
  let now = 1_700_000_000_000
  const timers = new Set<{ readonly at: number; readonly controller: AbortController }>()
  const pass = (ms: number): void => {
    now += ms
    for (const timer of [...timers]) if (timer.at <= now) timer.controller.abort(new Error('time'))
  }
  const attemptMs = options.timeoutMs ?? 30_000
  const client = createClient({
    baseUrl: 'https://edge.test',
    token: 'secret',
    random: () => 0.5,
    newId: () => `op-${++ids}`,
    clock: {
      now: () => now,
      timeout(ms) {
        const controller = new AbortController()
        const timer = { at: now + ms, controller }
        timers.add(timer)
        // Waits end by themselves, time limits when the test says so.
        if (ms !== attemptMs) {
          waits.push(ms)
          queueMicrotask(() => timers.has(timer) && pass(ms))
        }
        return { signal: controller.signal, clear: () => timers.delete(timer) }
      },
    },
    async fetch(url, init) {
      const request: Sent = {
        method: init.method ?? '',
        url,
        headers: new Headers(init.headers),
        body: init.body as string | undefined,
        signal: init.signal as AbortSignal,
        redirect: init.redirect,
      }
      const answer = answers[Math.min(sent.length, answers.length - 1)]
      sent.push(request)
      if (answer instanceof Error) throw answer
      if (typeof answer === 'function') return answer(request)
      return answer?.clone() ?? new Promise(() => {})
    },
    ...options,
  })
  return { client, sent, waits, timers: () => timers.size, pass }
}

/** How fetch fails without a network. */
export const offline = new TypeError('fetch failed')

export function json(value: unknown, init: ResponseInit = {}): Response {
  return Response.json(value, init)
}

export function problem(
  status: number,
  fields: Partial<Problem> & object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { code = 'ERR_INVALID_ARGUMENT' } = fields
  const body = { type: `/docs/errors#${code}`, title: 'No.', status, detail: 'append: no', code, ...fields }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}

/** How a promise is refused. */
export async function refused(promise: Promise<unknown>): Promise<RequestError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** A stream of these pieces; one that is `cut` fails after them. */
export function events(
  pieces: readonly (string | Uint8Array)[],
  { cut = false, headers = {} } = {},
): Response {
  const encoder = new TextEncoder()
  let next = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const piece = pieces[next++]
    if (piece !== undefined) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
    else if (cut) controller.error(new TypeError('cut'))
    else controller.close()
  }
  // Nothing is pulled ahead: a stream that fails forgets what is in its queue.
  const body = new ReadableStream({ pull }, { highWaterMark: 0 })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } })
}

/** Events of the AI SDK's protocol. */
export function chunks(...values: readonly object[]): string[] {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`)
}
