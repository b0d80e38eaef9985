import type { ReplyEvent } from '../homes/home.ts'
import type { RunningReply } from '../ports.ts'

export const WAITING: RunningReply = { status: 'waiting', text: '', reasoning: '', calls: [] }

/** A reply after one more event. */
export function nextReply(reply: RunningReply, event: ReplyEvent): RunningReply {
  switch (event.type) {
    case 'step':
      return WAITING
    case 'text':
      return { ...reply, status: 'streaming', text: reply.text + event.text }
    case 'reasoning':
      return { ...reply, status: 'streaming', reasoning: reply.reasoning + event.text }
    case 'call': {
      const { call } = event
      const known = reply.calls.some(({ callId }) => callId === call.callId)
      const calls = known
        ? reply.calls.map((one) => (one.callId === call.callId ? call : one))
        : [...reply.calls, call]
      return { ...reply, status: 'tools', calls }
    }
    case 'recorded':
      // It is a message now.
      return { ...reply, text: '', reasoning: '' }
    case 'receipt':
      return reply
  }
}
