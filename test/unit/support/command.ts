import { run } from '../../../src/cli/command.ts'
import type { Io } from '../../../src/cli/io.ts'

type Files = { readonly [path: string]: string }

/**
 * The command over files in memory, `-` being standard input. Files in the folder `sealed/` cannot
 * be written.
 */
export async function plimsoll(
  argv: readonly string[],
  files: Files = {},
  columns?: number,
  own: Partial<Io> = {},
) {
  const { io, said } = filesIo(files, columns)
  const status = await run(argv, { ...io, ...own })
  return { status, ...said() }
}

/**
 * An outside of files in memory, on a terminal of that many columns or on none, and what was said
 * to it.
 */
export function filesIo(files: Files, columns?: number) {
  const written: { [path: string]: string[] } = {}
  let out = ''
  let err = ''
  const io: Io = {
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    columns: { out: columns, err: undefined },
    env: {},
    fetch: async () => {
      throw new Error('no network')
    },
    size: async (path) => {
      const text = files[path]
      if (text === undefined) throw new Error('no such file')
      return text.length
    },
    lines: async function* (path) {
      yield* (files[path] ?? '').split('\n')
    },
    input: () => io.lines('-'),
    create: async (path) => {
      if (path.startsWith('sealed/')) throw new Error('permission denied')
      const lines: string[] = []
      written[path] = lines
      return {
        write: async (line) => {
          lines.push(line)
        },
        close: async () => {},
      }
    },
  }
  return { io, said: () => ({ out, err, written }) }
}

export function jsonl(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}
