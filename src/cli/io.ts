import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Fetch } from '../client/options.ts'

/**
 * What the command does to the outside, injected so that tests need neither processes nor files.
 */
export interface Io {
  /** Text for standard output. */
  out(text: string): void
  /** Text for standard error. */
  err(text: string): void
  /** Columns of the terminal on that stream; `undefined` when it is none. */
  readonly columns: { readonly out: number | undefined; readonly err: number | undefined }
  readonly env: { readonly [name: string]: string | undefined }
  /** Contract: bytes of the file; rejects when it cannot be read. */
  size(path: string): Promise<number>
  /** Contract: the file's lines, in order and without their ends. */
  lines(path: string): AsyncIterable<string>
  /** Contract: the lines of standard input, as {@link lines}. */
  input(): AsyncIterable<string>
  /** Contract: as the platform's. */
  readonly fetch: Fetch
  /** Contract: replaces the file; rejects when it cannot be written. */
  create(path: string): Promise<LineWriter>
}

export interface LineWriter {
  /** Resolves when more can be taken. */
  write(line: string): Promise<void>
  /** Resolves when all lines are in the file. */
  close(): Promise<void>
}

export const nodeIo: Io = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  columns: {
    out: process.stdout.isTTY ? process.stdout.columns : undefined,
    err: process.stderr.isTTY ? process.stderr.columns : undefined,
  },
  env: process.env,
  fetch: (url, init) => fetch(url, init),
  size: async (path) => {
    const stats = await stat(path)
    if (stats.isDirectory()) throw new Error(`${path} is a directory`)
    return stats.size
  },
  lines: (path) => linesOf(createReadStream(path, 'utf8')),
  input: () => linesOf(process.stdin.setEncoding('utf8')),
  create: async (path) => {
    const stream = createWriteStream(path)
    // `close` hands a late failure to the code that waits; without this listener Node would end the
    // process first.
    let failure: Error | undefined
    stream.on('error', (error) => {
      failure = error
    })
    await new Promise<void>((resolve, reject) => stream.once('open', () => resolve()).once('error', reject))
    const settle = (start: (done: () => void) => void): Promise<void> =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        stream.once('error', reject)
        start(() => {
          stream.off('error', reject)
          resolve()
        })
      })
    return {
      write: (line) =>
        settle((done) => {
          if (stream.write(`${line}\n`)) done()
          else stream.once('drain', done)
        }),
      close: () => settle((done) => stream.end(done)),
    }
  },
}

/**
 * Without a byte order mark, as editors of Windows begin a file with one. Not node:readline: it
 * also ends lines at U+2028 and U+2029, which JSON allows inside a string.
 */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest: string | undefined
  for await (const chunk of chunks) {
    const lines = (rest === undefined ? chunk.replace(/^\ufeff/, '') : chunk).split('\n')
    lines[0] = (rest ?? '') + lines[0]
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest) yield rest
}
