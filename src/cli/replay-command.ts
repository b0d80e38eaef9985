import { isPlimsollError } from '../ports/errors.ts'
import { type ReplayOptions, UsageError } from './arguments.ts'
import { loadCounter } from './counters.ts'
import type { Drawn } from './draw.ts'
import { readable } from './files.ts'
import type { Io, LineWriter } from './io.ts'
import { startProgress } from './progress.ts'
import { newTallies, type ReplayedCall, type ReplaySettings, replay } from './replay.ts'
import { figuresOf, type Replayed, type Report, reportJson, reportText } from './report.ts'
import { type Conversation, readConversation } from './transcript.ts'

/** Replays all conversations of the files. Resolves to the exit status: 1 if a line could not be read. */
export async function replayCommand(options: ReplayOptions, version: string, io: Io): Promise<number> {
  const total = await readable(options.files, io)
  const counter = await loadCounter(options.counter, (message) => io.err(`plimsoll: ${message}\n`))
  const requests = options.requests === undefined ? undefined : await create(options.requests, io)
  const settings: ReplaySettings = { ...options, counter }
  const progress = startProgress(io, total)
  const tallies = newTallies()
  const conversations: Replayed[] = []
  const malformed: Report['malformed'][number][] = []
  let done = 0
  for (const file of options.files) {
    let number = 0
    const skip = (error: unknown, calls = 0): void => {
      const reason = `${(error as Error).message}${calls > 0 ? ` (after ${calls} calls)` : ''}`
      malformed.push({ file, line: number, reason })
      progress.clear()
      io.err(`plimsoll: ${file} line ${number}: ${reason}\n`)
    }
    for await (const line of io.lines(file)) {
      number++
      const conversation =
        line.trim() === '' ? undefined : attempt(() => readConversation(line, number), skip)
      if (conversation) {
        const calls: Drawn[] = []
        conversations.push({ conversation: conversation.id, calls })
        try {
          for await (const replayed of replay(conversation, settings, tallies)) {
            calls.push(drawn(replayed))
            progress.show(done, `${conversation.id} #${replayed.call}`)
            await write(requests, replayed, options.budget)
          }
        } catch (error) {
          if (!isPlimsollError(error)) throw error
          skip(error, calls.length)
        }
      }
      done += Buffer.byteLength(line) + 1
    }
  }
  progress.clear()
  await requests?.close()
  const figures = figuresOf(tallies)
  const report: Report = { version, options, counter: counter.id, conversations, figures, malformed }
  io.out(options.json ? reportJson(report) : reportText(report, io))
  return malformed.length > 0 ? 1 : 0
}

function attempt(read: () => Conversation, otherwise: (error: unknown) => void): Conversation | undefined {
  try {
    return read()
  } catch (error) {
    otherwise(error)
    return undefined
  }
}

async function create(path: string, io: Io): Promise<LineWriter> {
  try {
    return await io.create(path)
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${(error as Error).message}`)
  }
}

async function write(requests: LineWriter | undefined, replayed: ReplayedCall, cap: number): Promise<void> {
  const { conversation, call, provider, outcome } = replayed
  if (!requests || 'reason' in outcome) return
  const { tokens: used, request } = outcome
  await requests.write(JSON.stringify({ conversation, call, provider, cap, used, request }))
}

/** Without the request, so that a long recording does not hold every request in memory. */
function drawn({ call, answers, outcome }: ReplayedCall): Drawn {
  if ('reason' in outcome) return { call, answers, outcome }
  const { request: _, ...figures } = outcome
  return { call, answers, outcome: figures }
}
