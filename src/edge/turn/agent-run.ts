import { startRun } from '../../agent/start-run.ts'
import type { MessageInput } from '../../ports/message.ts'
import type { Run } from './protocol.ts'
import { withPictures } from './with-pictures.ts'

export interface AgentRunOptions {
  /** What is said to the agent. Default: nothing; it goes on with what the session holds. */
  readonly input?: MessageInput
  /** Id of the first reply, where no lease gives it one. Default: a fresh one. */
  readonly messageId?: string
}

/** The agent's loop, with the object's own tools. It ends as stopped where `signal` aborts it. */
export function agentRun({ input, messageId }: AgentRunOptions): Run {
  return async ({ session, model, tools, options, lease, host, signal, begin }, tell) => {
    const answering = model({ onCall: begin, ...(messageId !== undefined && !lease && { messageId }) })
    const { reason, steps } = await startRun(
      {
        ...options,
        session,
        tools,
        model: withPictures(answering, session),
        ...(input && { input }),
        ...(lease ? { lease } : { resume: true }),
        signal,
        onEvent: (event) => {
          // Who waits for another agent learns of errors by the stream.
          if (event.type === 'lease' && event.status === 'waiting') begin()
          tell(event)
        },
      },
      host,
    )
    return { status: reason === 'aborted' ? 'stopped' : 'done', steps }
  }
}
