import { isRecord } from '../ports/is-record.ts'
import { lint } from '../replay/request.ts'
import { PROVIDERS } from '../replay/transcript.ts'
import { type LintOptions, UsageError } from './arguments.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'

/**
 * Prints every broken rule with its file and line. Resolves to the exit status: 1 if there is one,
 * or a line is unreadable.
 */
export async function lintCommand({ files, provider }: LintOptions, io: Io): Promise<number> {
  await readable(files, io)
  let requests = 0
  let problems = 0
  let malformed = 0
  for (const file of files) {
    let number = 0
    for await (const line of io.lines(file)) {
      number++
      if (line.trim() === '') continue
      try {
        const found = check(line, provider)
        for (const problem of found.problems) io.out(problemText(`${file}:${number}${found.name}`, problem))
        problems += found.problems.length
        requests++
      } catch (error) {
        if (error instanceof UsageError) throw error
        malformed++
        io.err(`plimsoll: ${file} line ${number}: ${(error as Error).message}\n`)
      }
    }
  }
  io.out(`${requests} requests, ${problems} problems\n`)
  return problems + malformed > 0 ? 1 : 0
}

/** What is wrong at some place of a request. */
export interface Finding {
  readonly rule: string
  readonly path: string
  readonly message: string
}

/** A problem, and the file, line and call where it is. */
export function problemText(where: string, { rule, path, message }: Finding): string {
  return `${where} ${rule} at ${path}: ${message}\n`
}

/** A line is what `replay --requests` writes, or a bare request. */
function check(line: string, given: LintOptions['provider']) {
  const read: unknown = JSON.parse(line)
  if (!isRecord(read)) throw new Error('not a JSON object')
  const request = read.request ?? read
  if (!isRecord(request) || !Array.isArray(request.messages)) throw new Error('no request with "messages"')
  const provider = PROVIDERS.find((name) => name === read.provider) ?? given
  if (!provider) throw new Error('no "provider"; name it with --provider')
  const name = read.conversation === undefined ? '' : ` ${read.conversation}#${read.call}`
  return { name, problems: lint(request, provider) }
}
