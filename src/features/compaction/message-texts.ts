import { partsOf } from '../../kernel/log/message.ts'
import type { Message } from '../../ports/message.ts'
import { leaves } from '../text/leaves.ts'

/** What a message holds, by how it came there. */
export interface MessageTexts {
  readonly spoken: string
  /** Arguments of calls. */
  readonly called: string
  /** Results. */
  readonly read: string
}

/** All that a message says, calls and results included. */
export function textIn(message: Pick<Message, 'content'>): string {
  const { spoken, called, read } = textsOf(message)
  return `${spoken}\n${called}\n${read}`
}

export function textsOf(message: Pick<Message, 'content'>): MessageTexts {
  const lines = { spoken: [] as string[], called: [] as string[], read: [] as string[] }
  for (const part of partsOf(message)) {
    if (part.type === 'text') lines.spoken.push(part.text)
    if (part.type === 'tool-call') lines.called.push(leaves(part.input))
    if (part.type === 'tool-result') lines.read.push(leaves(part.output))
  }
  return { spoken: lines.spoken.join('\n'), called: lines.called.join('\n'), read: lines.read.join('\n') }
}
