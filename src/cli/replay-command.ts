import { isPlimsollError } from '../ports/errors.ts'
import { Line } from '../replay/optimum.ts'
import { POLICIES, type PolicyName } from '../replay/policy.ts'
import { newTallies, type ReplayedCall, type ReplaySettings, replay } from '../replay/replay.ts'
import { type ReplayOptions, UsageError } from './arguments.ts'
import { loadCounter } from './counters.ts'
import type { Drawn } from './draw.ts'
import { readable } from './files.ts'
import type { Io, LineWriter } from './io.ts'
import { startProgress } from './progress.ts'
import { recordingsIn } from './recordings.ts'
import { figuresOf, type Replayed, type Report, reportJson, reportText } from './report.ts'

/**
 * Replays all conversations of the files. Resolves to the exit status: 1 if a line could not be
 * read.
 */
export async function replayCommand(options: ReplayOptions, version: string, io: Io): Promise<number> {
  const total = await readable(options.files, io)
  const counter = await loadCounter(options.counter, (message) => io.err(`plimsoll: ${message}\n`))
  const requests = options.requests === undefined ? undefined : await create(options.requests, io)
  const settings: ReplaySettings = {
    ...options,
    counter,
    line: (conversation) => new Line(conversation, { ...options, counter }),
  }
  const progress = startProgress(io, total)
  const tallies = newTallies(POLICIES)
  const conversations: Replayed[] = []
  const malformed: Report['malformed'][number][] = []
  const skip = ({ file, line }: { file: string; line: number }, error: unknown, calls = 0): void => {
    const reason = `${(error as Error).message}${calls > 0 ? ` (after ${calls} calls)` : ''}`
    malformed.push({ file, line, reason })
    progress.clear()
    io.err(`plimsoll: ${file} line ${line}: ${reason}\n`)
  }
  for await (const recording of recordingsIn(options.files, io, skip)) {
    const { conversation, offset } = recording
    if (conversation.id !== (options.conversation ?? conversation.id)) continue
    const calls: Drawn[] = []
    conversations.push({ conversation: conversation.id, calls })
    try {
      for await (const replayed of replay(conversation, settings, tallies)) {
        calls.push(kept(replayed, options.policy))
        progress.show(offset, `${conversation.id} #${replayed.call}`)
        await write(requests, replayed, options)
      }
    } catch (error) {
      if (!isPlimsollError(error)) throw error
      skip(recording, error, calls.length)
    }
  }
  progress.clear()
  await requests?.close()
  if (options.conversation !== undefined && conversations.length === 0) {
    throw new UsageError(`no conversation "${options.conversation}" in ${options.files.join(', ')}`)
  }
  const figures = figuresOf(tallies)
  const report: Report = { version, options, counter: counter.id, conversations, figures, malformed }
  io.out(options.json ? reportJson(report) : reportText(report, io))
  return malformed.length > 0 ? 1 : 0
}

async function create(path: string, io: Io): Promise<LineWriter> {
  try {
    return await io.create(path)
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${(error as Error).message}`)
  }
}

async function write(
  requests: LineWriter | undefined,
  { conversation, call, provider, outcomes, epoch, request }: ReplayedCall,
  { policy, budget: cap }: ReplayOptions,
): Promise<void> {
  const outcome = outcomes[policy]
  if (!requests || 'reason' in outcome) return
  const { tokens: used } = outcome
  await requests.write(JSON.stringify({ conversation, call, provider, cap, used, epoch, request }))
}

/** Without the request, so that a long recording does not hold every request in memory. */
function kept({ call, answers, outcomes }: ReplayedCall, policy: PolicyName): Drawn {
  return { call, answers, outcome: outcomes[policy] }
}
