import { expect } from 'vitest'
import {
  type AgentEvent,
  type AgentRun,
  type AgentTool,
  type Context,
  lintRequest,
  mapStore,
  type SectionName,
  type Store,
  toAnthropic,
  toOpenAI,
} from '../../../src/index.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../../contract/full-memory.ts'

/** A session over a store; a further one over the same store knows what a new process would. */
export function open(store: Store = mapStore(), options: Partial<FullMemoryOptions> = {}): FullSession {
  return fullMemory({ store, budget: 16_000, ...options }).session({ userId: 'ada', sessionId: 'trip' })
}

export function tool(name: string, execute: AgentTool['execute'], more: Partial<AgentTool> = {}): AgentTool {
  return { name, inputSchema: { type: 'object' }, execute, ...more }
}

export async function eventsOf(run: AgentRun): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of run) events.push(event)
  return events
}

export function expectLints(context: Context): void {
  expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
  expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
}

/** Text of a request's section. */
export function textIn(context: Context | undefined, section: SectionName): string {
  const parts = (context?.blocks ?? [])
    .filter((block) => block.section === section)
    .flatMap((one) => one.parts)
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** Results in a conversation, as call id and output. */
export async function resultsIn(session: FullSession): Promise<readonly (readonly [string, unknown])[]> {
  const messages = await session.history({ messages: 1_000 })
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part.output] as const] : [])),
  )
}

export const call = (
  name: string,
  input: Parameters<typeof JSON.stringify>[0] = {},
  id?: string,
): { name: string; input: never; id?: string } => ({
  name,
  input: input as never,
  ...(id !== undefined && { id }),
})
