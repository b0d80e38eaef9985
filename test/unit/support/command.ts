import { run } from '../../../src/cli/command.ts'
import type { Io } from '../../../src/cli/io.ts'

/** The command over files in memory. Files in the folder `sealed/` cannot be written. */
export async function plimsoll(argv: readonly string[], files: { [path: string]: string } = {}) {
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
    columns: { out: undefined, err: undefined },
    env: {},
    size: async (path) => {
      const text = files[path]
      if (text === undefined) throw new Error('no such file')
      return text.length
    },
    lines: async function* (path) {
      yield* (files[path] ?? '').split('\n')
    },
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
  const status = await run(argv, io)
  return { status, out, err, written }
}

export function jsonl(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}
