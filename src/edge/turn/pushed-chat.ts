import { firstReplyId } from '../../agent/lease.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { agentRun } from './agent-run.ts'
import type { ChatRequest } from './protocol.ts'
import { uiEncoder } from './ui/encoder.ts'

/** What the turn that answers a pushed message is known by. */
export function pushedKey(message: string): string {
  return `pushed/${message}`
}

/** Has the edge's agent answer a message that a replica pushed, or go on where another ended. */
export function pushedChat(message: string): ChatRequest {
  return {
    key: { key: pushedKey(message), fingerprint: message, among: 'running' },
    async admit({ session }) {
      const row = await readEntry(kernelOf('chat', session).store, message)
      const input = row && messageIn(row)
      if (!input) throw new PlimsollError('ERR_NOT_FOUND', `chat: no message ${message}`, { id: message })
      const messageId = await firstReplyId(session, message)
      return { type: 'run', messageId, encoder: uiEncoder({ messageId }), run: agentRun({ input }) }
    },
  }
}
