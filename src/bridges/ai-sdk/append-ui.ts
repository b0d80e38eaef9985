import type { ModelMessage, UIMessage } from 'ai'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Session } from '../../ports/memory.ts'
import { appendOnce } from './append-once.ts'
import { fromUIMessages, isCall, logId, resultOf, type UIPart, uiMessagesIn } from './from-ui.ts'
import { given } from './opaque.ts'
import { toolNameOf } from './ui-parts.ts'

/** How far back a known message is looked for. */
const LOOK_BACK = 64

/**
 * Writes what is new of the messages that a chat sends, whether it sends all of them or the last
 * ones:
 *
 * - A message of the user (or of the system) is known by its id; what stands before the newest
 *   known one is taken for known. To edit or regenerate, rewind the session first: a known id keeps
 *   its first content.
 * - Of an assistant's message nothing is written but results of calls that wait: what it said, the
 *   loop wrote when the model said it.
 * - Into an empty log all of them are written.
 *
 * Repeating it writes nothing.
 *
 * @returns calls that the user has approved and their approvals, as messages to begin `streamText`
 * with: it runs the tools. Most often empty.
 * @throws as `session.append()`; ERR_INVALID_ARGUMENT: one of them is no UI message. Nothing is
 * written then
 */
export async function appendUIMessages(
  session: Session,
  sent: readonly UIMessage[],
): Promise<ModelMessage[]> {
  const messages = uiMessagesIn('appendUIMessages', sent)
  const history = await session.history({ messages: LOOK_BACK })
  if (history.length === 0) {
    const all = fromUIMessages(messages)
    if (all.length > 0) await session.append(all)
  } else {
    const known = new Set(history.map(({ id }) => id))
    const start = messages.findLastIndex(({ role, id }) => role !== 'assistant' && known.has(logId(id)))
    for (const message of messages.slice(start + 1)) {
      if (message.role === 'assistant') await settle(session, message)
      else await session.append(fromUIMessages([message]))
    }
  }
  const last = messages.at(-1)
  return last?.role === 'assistant' ? approvalsIn(session, last) : []
}

/** Gives the calls that wait what the user's side made of them. */
async function settle(session: Session, message: UIMessage): Promise<void> {
  const calls = callsIn(message)
  if (!calls.some((part) => resultOf(part))) return
  const pending = await pendingOf(session)
  const waiting = new Set(pending.map(({ callId }) => callId))
  const results = calls.flatMap((part) => {
    const result = resultOf(part)
    return result && waiting.delete(result.callId) ? [result] : []
  })
  const [entry = ''] = pending.map((call) => call.entry)
  const key = ['settled', entry, ...results.map(({ callId }) => callId)]
  if (results.length > 0) await appendOnce(session, [{ role: 'tool', content: results }], key)
}

/**
 * Approved calls that still wait, as the SDK looks for them: a reply with the calls, and the user's
 * answers.
 */
async function approvalsIn(session: Session, message: UIMessage): Promise<ModelMessage[]> {
  const approved = callsIn(message).filter(
    ({ state, approval }) => state === 'approval-responded' && (approval as { approved?: boolean }).approved,
  )
  if (approved.length === 0) return []
  const pending = new Set((await pendingOf(session)).map(({ callId }) => callId))
  const waiting = approved.filter(({ toolCallId }) => pending.has(String(toolCallId)))
  if (waiting.length === 0) return []
  return [
    {
      role: 'assistant',
      content: waiting.flatMap((part) => {
        const approval = part.approval as { readonly id: string; readonly requestReason?: string }
        const { signature, isAutomatic, inputSchemaInput } = part.approval as {
          readonly signature?: string
          readonly isAutomatic?: boolean
          readonly inputSchemaInput?: unknown
        }
        const toolCallId = String(part.toolCallId)
        return [
          { type: 'tool-call' as const, toolCallId, toolName: toolNameOf(part), input: part.input },
          {
            type: 'tool-approval-request' as const,
            approvalId: approval.id,
            toolCallId,
            ...given({ signature, isAutomatic, inputSchemaInput, reason: approval.requestReason }),
          },
        ]
      }),
    },
    {
      role: 'tool',
      content: waiting.map((part) => {
        const { id, reason } = part.approval as { readonly id: string; readonly reason?: string }
        return {
          type: 'tool-approval-response' as const,
          approvalId: id,
          approved: true,
          ...(reason !== undefined && { reason }),
        }
      }),
    },
  ]
}

function callsIn(message: UIMessage): readonly UIPart[] {
  return (message.parts as unknown as readonly UIPart[]).filter(isCall)
}

/** The calls that wait for a result, by the message that made them. */
async function pendingOf(
  session: Session,
): Promise<readonly { readonly entry: string; readonly callId: string }[]> {
  try {
    await session.context({ preview: true })
  } catch (error) {
    if (isPlimsollError(error, 'ERR_TOOL_PENDING')) return error.pending ?? []
    if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
  }
  return []
}
