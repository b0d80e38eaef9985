import type { Context, MessageInput } from '../../../src/index.ts'

/** A user's message; its text is its id unless another is given. */
export const user = (id: string, content = id): MessageInput => ({ id, role: 'user', content })

export const answer = (id: string, content = id): MessageInput => ({ id, role: 'assistant', content })

export const calls = (id: string, ...callIds: string[]): MessageInput => ({
  id,
  role: 'assistant',
  content: callIds.map((callId) => ({ type: 'tool-call', id: callId, name: 'find', input: {} })),
})

export const result = (id: string, callId: string, output = 'found'): MessageInput => ({
  id,
  role: 'tool',
  content: [{ type: 'tool-result', callId, output }],
})

/** Ids of the entries that a context shows. */
export const shown = ({ blocks }: Context): string[] => blocks.flatMap(({ from }) => from)
