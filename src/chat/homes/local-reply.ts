/** Answering in this browser; loaded ahead of the first reply. */
import type { AgentEvent } from '../../agent/events.ts'
import { agentTools } from '../../agent/memory-tools/agent-tools.ts'
import type { AgentTool } from '../../agent/options.ts'
import { type RunLibrary, runWith } from '../../agent/run.ts'
import { createToolbox } from '../../agent/tools.ts'
import { webHost } from '../../platform/web.ts'
import type { Message, ToolSpec } from '../../ports/message.ts'
import type { Model } from '../../ports/model.ts'
import type { ReplyOptions } from './home.ts'
import { loaded } from './load.ts'
import type { LocalMemorySession } from './local-memory.ts'
import { pageContextMiddleware } from './page-context.ts'

/** What is asked of the page for each reply. */
export interface ReplyParts {
  readonly model: Model
  readonly tools: readonly AgentTool[]
  readonly memoryTools: boolean
  readonly pageContext: (() => string | Promise<string>) | undefined
}

// Few replies need these.
const loadWork = () => import('../../agent/memory-tools/work.ts')
const LIBRARY: RunLibrary = {
  validator: () => import('../../agent/validator.ts'),
  calls: () => loaded(() => import('../../agent/calls.ts')),
  plainTranscript: () => import('../../agent/plain-transcript.ts'),
}

/** The tools that replies in a session get. */
export async function toolSpecsOf(
  session: LocalMemorySession,
  parts: ReplyParts,
): Promise<readonly ToolSpec[]> {
  return (await createToolbox(toolsOf(session, parts), LIBRARY.validator)).specs
}

function toolsOf(
  session: LocalMemorySession,
  { tools, memoryTools: mayRemember }: Pick<ReplyParts, 'tools' | 'memoryTools'>,
): readonly AgentTool[] {
  return [...tools, ...(mayRemember ? agentTools(session, undefined, loadWork) : [])]
}

/** Has the newest round of a session answered. */
export async function reply(
  session: LocalMemorySession,
  round: string | undefined,
  parts: ReplyParts,
  { signal, tell }: ReplyOptions,
): Promise<void> {
  const { model, pageContext } = parts
  let said = ''
  const take = (event: AgentEvent): void => {
    if (event.type === 'step-start') said = ''
    if (event.type === 'text') said += event.text
    if (event.type === 'message' && event.message.role === 'assistant') said = ''
    const told = replyEventOf(event)
    if (told) void tell(told)
  }
  const running = runWith(
    {
      session,
      model,
      tools: toolsOf(session, parts),
      middleware: pageContext ? [pageContextMiddleware(pageContext)] : [],
      resume: true,
      signal,
      onEvent: take,
    },
    webHost,
    LIBRARY,
  )
  let failure: unknown
  const reason = await running.then(
    (result) => result.reason,
    (error) => {
      failure = error
    },
  )
  if ((failure || reason === 'aborted') && said.trim() !== '') {
    const { messages } = await session.append(
      { role: 'assistant', content: said, metadata: { stopped: failure ? 'error' : true } },
      round === undefined ? {} : { round },
    )
    void tell({ type: 'recorded', message: messages[0] as Message })
  }
  if (failure) throw failure
}

type ReplyEvent = Parameters<ReplyOptions['tell']>[0]
type CallEvent = Extract<ReplyEvent, { type: 'call' }>

function replyEventOf(event: AgentEvent): ReplyEvent | undefined {
  switch (event.type) {
    case 'step-start':
      return { type: 'step' }
    case 'text':
    case 'reasoning':
      return event
    case 'context':
      return { type: 'receipt', receipt: event.receipt }
    case 'message':
      return { type: 'recorded', message: event.message }
    case 'tool-call':
      return callOf(event, { status: 'waiting' })
    case 'tool-start':
      return callOf(event, { status: 'running' })
    case 'tool-result':
      return callOf(event, { output: event.output, status: event.isError ? 'failed' : 'ok' })
    default:
      return undefined
  }
}

function callOf(
  {
    call: { callId, name, input },
  }: Extract<AgentEvent, { type: 'tool-call' | 'tool-start' | 'tool-result' }>,
  more: Pick<CallEvent['call'], 'status' | 'output'>,
): CallEvent {
  return { type: 'call', call: { callId, name, input, ...more } }
}
