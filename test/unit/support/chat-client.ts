/**
 * A door for OpenAI's clients as the edge has one, over one session in memory, and what stands for
 * a model behind it.
 */

import { Hono } from 'hono'
import { expect, vi } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import type { EdgeSession } from '../../../src/edge/features.ts'
import { parseChatRequest } from '../../../src/edge/turn/chat-request.ts'
import { EVENT_STREAM_HEADERS } from '../../../src/edge/turn/completions/encoder.ts'
import { chatErrorOf } from '../../../src/edge/turn/completions/error.ts'
import { Turns } from '../../../src/edge/turn/turns.ts'
import type { ModelSettings, RecallFeatureOptions } from '../../../src/index.ts'
import { type Message, type Model, mapStore } from '../../../src/index.ts'
import type { PolicyOptions } from '../../../src/kernel/policy.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { sqliteStorage } from '../edge/support/sqlite-storage.ts'
import { type Served, serveFetch } from './served.ts'

export interface Door extends Served {
  readonly session: (system?: string) => FullSession
  /** Runs of which the reply is not stored yet end before this resolves. */
  idle(): Promise<void>
}

export interface DoorOptions {
  readonly model: Model
  readonly settings?: ModelSettings
  readonly policy?: Partial<PolicyOptions>
  readonly recall?: RecallFeatureOptions
}

export async function chatDoor({ model, settings = {}, policy, recall }: DoorOptions): Promise<Door> {
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
  const turns = new Turns({
    session: () => open() as EdgeSession,
    model: () => model,
    run: () => ({ settings }),
    storage: sqliteStorage(),
  })
  const app = new Hono()
  app.post('/v1/openai/chat/completions', async ({ req, json }) => {
    try {
      const idempotencyKey = req.header('Idempotency-Key')
      const request = parseChatRequest(await req.json(), {
        protocol: 'completions',
        modelId: model.id,
        isRetry: Number(req.header('X-Stainless-Retry-Count') ?? 0) > 0,
        ...settings,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      })
      const { stream } = await turns.start(request, {
        session: () => open(request.system) as EdgeSession,
      })
      const headers = request.isWhole ? { 'Content-Type': 'application/json' } : EVENT_STREAM_HEADERS
      return new Response(stream, { headers })
    } catch (error) {
      const { status, headers, body } = chatErrorOf(error)
      return json(body, status as 400, headers)
    }
  })
  const served = await serveFetch((request) => app.fetch(request))
  return {
    ...served,
    url: `${served.url}/v1/openai`,
    session: open,
    idle: () => vi.waitFor(() => expect(turns.beat()).toBeUndefined(), 10_000),
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
