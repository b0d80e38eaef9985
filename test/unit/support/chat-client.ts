/** A door for OpenAI's clients as the edge has one, over one session in memory, and what stands for a model behind it. */

import { Hono } from 'hono'
import { lawChecker } from '../../../src/assert-laws.ts'
import { chatErrorOf } from '../../../src/edge/openai/chat-error.ts'
import { type CompleteChatOptions, completeChat } from '../../../src/edge/openai/complete-chat.ts'
import { EVENT_STREAM_HEADERS, eventStream } from '../../../src/edge/openai/event-stream.ts'
import type { RecallFeatureOptions } from '../../../src/index.ts'
import { type Message, mapStore } from '../../../src/index.ts'
import type { PolicyOptions } from '../../../src/kernel/policy.ts'
import { webHost } from '../../../src/platform/web.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { type Served, serveFetch } from './served.ts'

export interface Door extends Served {
  readonly session: (system?: string) => FullSession
  /** Runs of which the reply is not stored yet end before this resolves. */
  idle(): Promise<void>
}

export type DoorOptions = Pick<CompleteChatOptions, 'model'> &
  Partial<CompleteChatOptions> & {
    readonly policy?: Partial<PolicyOptions>
    readonly recall?: RecallFeatureOptions
  }

/** One call at a time, as in a Durable Object that queues them. */
export async function chatDoor({ policy, recall, ...options }: DoorOptions): Promise<Door> {
  const store = mapStore()
  const sessions = new Map<string, FullSession>()
  const open = (system = ''): FullSession => {
    const known = sessions.get(system)
    if (known) return known
    const memory = fullMemory({
      store,
      budget: 16_000,
      laws: lawChecker,
      ...(recall && { recall }),
      ...policy,
      system,
    })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    sessions.set(system, session)
    return session
  }
  let queue: Promise<unknown> = Promise.resolve()
  const app = new Hono()
  app.post('/v1/openai/chat/completions', async ({ req, json }) => {
    const idempotencyKey = req.header('Idempotency-Key')
    const body: unknown = await req.json()
    const before = queue
    let release = (): void => {}
    queue = new Promise<void>((resolve) => {
      release = resolve
    })
    await before
    try {
      const answer = await completeChat({
        session: open,
        host: webHost,
        isRetry: Number(req.header('X-Stainless-Retry-Count') ?? 0) > 0,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...options,
        request: body,
      })
      if ('completion' in answer) {
        release()
        return json(answer.completion)
      }
      answer.done.catch(() => {}).finally(release)
      return new Response(eventStream(answer.stream), { headers: EVENT_STREAM_HEADERS })
    } catch (error) {
      release()
      const { status, headers, body } = chatErrorOf(error)
      return json(body, status as 400, headers)
    }
  })
  const served = await serveFetch((request) => app.fetch(request))
  return {
    ...served,
    url: `${served.url}/v1/openai`,
    session: open,
    idle: async () => {
      await queue
    },
  }
}

/** What shows of a log, a line a message. */
export function linesOf(messages: readonly Message[]): readonly string[] {
  return messages.map(({ role, content }) => {
    if (typeof content === 'string') return `${role}: ${content}`
    const parts = content.map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return `${part.id} ${part.name}(${JSON.stringify(part.input)})`
      if (part.type === 'tool-result') return `${part.callId} = ${JSON.stringify(part.output)}`
      return `[${part.type}]`
    })
    return `${role}: ${parts.join(' | ')}`
  })
}

export async function logOf(session: FullSession): Promise<readonly string[]> {
  return linesOf(await session.history({ messages: 10_000 }))
}
