import { basename, extname } from 'node:path'
import { createClient } from '../client/client.ts'
import { createMemory } from '../create-memory.ts'
import { standard } from '../features/standard.ts'
import { exportFrom } from '../operations/transfer/export.ts'
import { fileOf, type TransferLine } from '../operations/transfer/format.ts'
import { importInto } from '../operations/transfer/import.ts'
import { isPlimsollError } from '../ports/errors.ts'
import { isRecord } from '../ports/is-record.ts'
import type { Imported } from '../ports/transfer.ts'
import { type ForeignMessage, type ForeignSession, foreignLines, sessionsIn } from '../replay/foreign.ts'
import { mapStore } from '../stores/map.ts'
import { checkId } from '../text/json.ts'
import { type ImportCommandOptions, UsageError } from './arguments.ts'
import { readable } from './files.ts'
import { readMessages } from './foreign-messages.ts'
import { ImportCounts } from './import-counts.ts'
import type { Io } from './io.ts'
import { reportLine } from './recordings.ts'

/** Whose a file's memory is while it is read. */
const USER = { userId: 'user' } as const
/** Milliseconds that an edge has for a file. */
const SEND_MS = 600_000

/**
 * Turns a log of another program into an export, which `importInto` reads, on standard output,
 * in a file or to an edge; of an export that is sent nowhere it says whether it can be read. A dry
 * run says what the file has, and writes and sends nothing. Resolves to the exit status: 1 if
 * something was left out, or the export cannot be read.
 */
export async function importCommand(options: ImportCommandOptions, io: Io): Promise<number> {
  const { file, to, edge, format, dryRun = false } = options
  const isRead = format === 'markdown'
  const isInput = file === '-'
  if (!isInput) await readable([file], io)
  const where = isInput ? 'standard input' : file
  const unreadable = reportLine(io)
  const lines = isInput ? io.input() : io.lines(file)
  const ahead = new Ahead(lines)
  const from = options.from ?? formatOf(await ahead.first())
  if (from === 'plimsoll' && isRead) {
    const write = await writerTo(to, file, io)
    const status = await writeMarkdown(withEnds(ahead.lines()), where, io, write.text)
    await write.close()
    return status
  }
  if (from === 'plimsoll')
    return edge && !dryRun
      ? send(`${await textOf(ahead.lines())}\n`, edge, where, io)
      : checkExport(ahead.lines(), where, io)
  const name = options.session ?? sessionOf(isInput ? 'input' : file)
  let left = 0
  const leftOut = (line: number, error: unknown): void => {
    left++
    if (from === 'jsonl') unreadable({ file: where, line }, error)
    else io.err(`plimsoll: ${where} message ${line}: ${(error as Error).message}\n`)
  }
  const without = (sessionId: string): void => {
    left++
    io.err(`plimsoll: ${where}: conversation ${JSON.stringify(sessionId)} has no "messages"\n`)
  }
  let sessions: readonly ForeignSession[]
  try {
    checkId('import', 'session', name)
    sessions =
      from === 'jsonl'
        ? [{ sessionId: name, messages: messagesIn(ahead.lines(), leftOut) }]
        : sessionsIn(JSON.parse(await textOf(ahead.lines())), name, without)
  } catch (error) {
    io.err(`plimsoll: ${where}: ${(error as Error).message}\n`)
    return 1
  }
  const counts = new ImportCounts()
  const counted = async function* (): AsyncGenerator<TransferLine> {
    for await (const line of foreignLines(counts.of(sessions), leftOut, readMessages)) {
      counts.take(line)
      yield line
    }
  }
  if (dryRun) {
    const imported = await tried(fileOf(counted()), where, io)
    if (!imported) return 1
    io.out(counts.table())
    io.err(`plimsoll: ${counts.sum()}, ${left} left out; a dry run: nothing was written\n`)
    return left > 0 ? 1 : statusOf(imported, where, io)
  }
  const texts: string[] = []
  const write = edge
    ? { text: async (text: string) => void texts.push(text), close: async () => {} }
    : await writerTo(to, file, io)
  if (isRead) await writeMarkdown(fileOf(counted()), where, io, write.text)
  else for await (const text of fileOf(counted())) await write.text(text)
  await write.close()
  io.err(`plimsoll: ${counts.sum()}, ${left} left out\n`)
  const status = edge ? await send(texts.join(''), edge, where, io) : 0
  return left > 0 ? 1 : status
}

/** Sends an export to an edge, and says what became of it. */
async function send(
  text: string,
  { url, token = '', trust }: NonNullable<ImportCommandOptions['edge']>,
  where: string,
  io: Io,
): Promise<number> {
  const own = token || io.env.PLIMSOLL_TOKEN
  try {
    const client = createClient({ baseUrl: url, ...(own && { token: own }), fetch: io.fetch })
    return report(await client.me.import(text, { timeoutMs: SEND_MS, ...(trust && { trust }) }), where, io)
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    io.err(`plimsoll: ${where}: ${error.code}: ${error.message}\n`)
    return 1
  }
}

function report(imported: Imported, where: string, io: Io): number {
  const { parts, conflicts, skipped, lowered } = imported
  const written = Object.entries(parts).map(([part, { written }]) => `${part} ${written}`)
  io.out(
    `${where}: ${written.join(', ')}; conflicts ${conflicts.count}, skipped ${skipped.count}, lowered ${lowered.count}\n`,
  )
  return statusOf(imported, where, io)
}

/** The exit status, which is 1 where not all was taken; says why, and which labels fell. */
function statusOf({ conflicts, skipped, lowered }: Imported, where: string, io: Io): number {
  for (const { part, key, sessionId } of conflicts.first) {
    const what = [key ?? part, ...(sessionId === undefined ? [] : [`session ${JSON.stringify(sessionId)}`])]
    io.err(`plimsoll: ${where}: ${what.join(' of ')}: another one is there\n`)
  }
  for (const { line, reason } of [...skipped.first, ...lowered.first])
    io.err(`plimsoll: ${where} line ${line}: ${reason}\n`)
  return conflicts.count + skipped.count > 0 ? 1 : 0
}

/** Imports an export into a memory of its own; says why, and gives nothing, where it cannot be. */
async function tried(
  chunks: AsyncIterable<string>,
  where: string,
  io: Io,
  memory = createMemory({ store: mapStore(), budget: 16_000 }),
): Promise<Imported | undefined> {
  try {
    return await importInto(memory, USER, chunks)
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    io.err(`plimsoll: ${where}: ${error.message}\n`)
    return undefined
  }
}

/** Says whether an export can be imported. */
async function checkExport(lines: AsyncIterable<string>, where: string, io: Io): Promise<number> {
  const imported = await tried(withEnds(lines), where, io)
  return imported ? report(imported, where, io) : 1
}

/** Writes what people can read of an export. Resolves to the exit status. */
async function writeMarkdown(
  lines: AsyncIterable<string>,
  where: string,
  io: Io,
  write: (text: string) => Promise<void>,
): Promise<number> {
  const memory = createMemory({ store: mapStore(), budget: 16_000, use: standard() })
  const imported = await tried(lines, where, io, memory)
  if (!imported) return 1
  for await (const text of exportFrom(memory, USER, { format: 'markdown' })) await write(text)
  return statusOf(imported, where, io)
}

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

async function writerTo(to: string | undefined, file: string, io: Io) {
  if (to === undefined)
    return {
      text: async (text: string) => io.out(text),
      close: async () => {},
    }
  if (to === file) throw new UsageError(`import: ${to} is named twice, and would be overwritten`)
  const writer = await io.create(to).catch((error: Error) => {
    throw new UsageError(`cannot write ${to}: ${error.message}`)
  })
  return {
    text: (text: string) => writer.write(text.slice(0, -1)),
    close: () => writer.close(),
  }
}

/** What the first line of a file says of it. */
function formatOf(first: string): NonNullable<ImportCommandOptions['from']> {
  let value: unknown
  try {
    value = JSON.parse(first)
  } catch {
    return 'json'
  }
  if (!isRecord(value)) return 'json'
  if (value.type === 'export') return 'plimsoll'
  const isMessage = 'role' in value || 'content' in value || isRecord(value.data) || isRecord(value.kwargs)
  return isMessage ? 'jsonl' : 'json'
}

async function* messagesIn(
  lines: AsyncIterable<string>,
  leftOut: (line: number, error: unknown) => void,
): AsyncGenerator<ForeignMessage> {
  let line = 0
  for await (const text of lines) {
    line++
    if (text.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      leftOut(line, error)
      continue
    }
    yield { value, line }
  }
}

/** A session's name by the file's. */
function sessionOf(file: string): string {
  return basename(file, extname(file)) || 'imported'
}

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all.join('\n')
}

/** Lines of which the first that is not empty is looked at before. */
class Ahead {
  readonly #rest: AsyncIterator<string>
  readonly #seen: string[] = []

  constructor(lines: AsyncIterable<string>) {
    this.#rest = lines[Symbol.asyncIterator]()
  }

  async first(): Promise<string> {
    for (;;) {
      const next = await this.#rest.next()
      if (next.done) return ''
      this.#seen.push(next.value)
      if (next.value.trim() !== '') return next.value
    }
  }

  async *lines(): AsyncGenerator<string> {
    yield* this.#seen
    for (;;) {
      const next = await this.#rest.next()
      if (next.done) return
      yield next.value
    }
  }
}
