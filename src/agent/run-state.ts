import type { AbortSignalLike, Host } from '../ports/host.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { AgentSession } from './agent-session.ts'
import type { ComposedHooks } from './compose.ts'
import type { AgentEvent } from './events.ts'
import type { Tenure } from './lease.ts'
import type { RunUsage, Stop } from './middleware.ts'
import type { RunOptions, Timeouts } from './options.ts'
import type { Loaded } from './schema.ts'
import type { Toolbox } from './tools.ts'
import type { Transcript, WriteOptions, Written } from './transcript.ts'
import { Aborted } from './within.ts'

/** The past of a run that is resumed. */
export interface Past {
  /** To what it is cut: messages, what is said next and settled first among them. */
  window: { readonly keep: { readonly messages: number } }
  /** Messages that the run has added to these. */
  added: number
  /** That of the run's newest context. */
  epoch?: string
}

/** What the parts of one run share. */
export interface RunState {
  readonly host: Host
  /** Aborts with the caller's signal, and when the run's time is up. */
  readonly signal: AbortSignalLike
  readonly emit: (event: AgentEvent) => void
  readonly options: RunOptions
  readonly session: AgentSession | undefined
  readonly timeouts: Timeouts
  readonly toolbox: Toolbox
  /** Gives what runs calls: asked for where there is one. */
  readonly calls: () => Loaded<typeof import('./calls.ts')>
  readonly hooks: ComposedHooks
  readonly transcript: Transcript
  /** Where it holds the lease of the message that it answers. */
  readonly tenure: Tenure | undefined
  /** What shows of the past, where that is cut short. */
  past: Past | undefined
  /** The round that the run's messages belong to, once it is known. */
  round: string | undefined
  steps: number
  usage: RunUsage
  /** Text of the last reply, and of the one that is coming. */
  answer: string
  /** The first thing that said to stop. */
  stop: Stop | undefined
}

/** @throws Aborted */
export function goOn({ signal }: RunState): void {
  if (signal.aborted) throw new Aborted()
}

/** Writes messages, and tells of each that was not there before. */
export async function write(
  { transcript, emit, past }: Pick<RunState, 'transcript' | 'emit' | 'past'>,
  messages: readonly MessageInput[],
  options: WriteOptions = {},
): Promise<Written> {
  const written = await transcript.append(messages, options)
  if (!written.repeated) tell(emit, written.messages)
  // What is written before its first context was counted.
  if (past?.epoch !== undefined) past.added += messages.length
  return written
}

/** Writes the reply of a step, or gives the one that the log has. @throws Aborted */
export async function writeReply(run: RunState, step: number, reply: MessageInput): Promise<Message> {
  const { tenure, round, emit } = run
  const written = tenure
    ? await tenure.reply(step, reply)
    : await write(run, [reply], { ...(round !== undefined && { round }) })
  if (tenure && !written.repeated) tell(emit, written.messages)
  return written.messages[0] as Message
}

/** Writes a result, or gives the one that the log has. */
export async function writeResult(
  run: RunState,
  result: MessageInput & { readonly id: string },
): Promise<Written> {
  const { tenure, emit } = run
  if (!tenure) return write(run, [result])
  const written = await tenure.append(result)
  if (!written.repeated) tell(emit, written.messages)
  return written
}

function tell(emit: RunState['emit'], messages: readonly Message[]): void {
  for (const message of messages) emit({ type: 'message', message })
}
