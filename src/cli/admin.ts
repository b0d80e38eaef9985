import { isRecord } from '../ports/is-record.ts'
import { type AdminOptions, UsageError } from './arguments.ts'
import type { Io, LineWriter } from './io.ts'

/** An erase of very many sessions takes several calls, each of some 256. */
const MOST_CALLS = 1_000

/**
 * Finds, exports or erases a user at an edge, by the operator's secret. Resolves to the exit
 * status: 1 if the edge refuses, or what it sent is not whole.
 */
export async function adminCommand(options: AdminOptions, io: Io): Promise<number> {
  const { OPERATOR_SECRET: secret = '' } = io.env
  if (secret === '') throw new UsageError('admin: put the secret into the variable OPERATOR_SECRET')
  const { action, url, user, tenant, to } = options
  const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`
  const more = action === 'export' ? '/export' : ''
  const address = new URL(
    `${url.replace(/\/$/, '')}/v1/operator/users/${encodeURIComponent(user)}${more}${query}`,
  )
  // A secret that opens every user's data is not sent in the clear.
  if (address.protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(address.hostname))
    throw new UsageError(`admin: --url must be https, but for this machine, not "${url}"`)
  const ask = async (method: string): Promise<Response> => {
    const headers = { Authorization: `Bearer ${secret}` }
    // Who it leads to is not who was asked, and a DELETE may become a GET on the way.
    const init = { method, headers, redirect: 'manual' } as const
    const response = await io.fetch(address.href, init).catch((error: Error) => {
      throw new Refused(`${url} cannot be reached: ${error.message}`)
    })
    if (!response.ok) throw new Refused(`${response.status} ${await problemOf(response)}`)
    return response
  }
  try {
    if (action === 'export') return await writeLines(await ask('GET'), to, io)
    const text =
      action === 'find'
        ? (await readAnswer(await ask('GET'), 'is_empty')).text
        : await erase(() => ask('DELETE'), io)
    io.out(`${text}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    io.err(`plimsoll: admin ${action}: ${error.message}\n`)
    return 1
  }
}

class Refused extends Error {}

/** Asks until nothing is left, and gives the last answer. */
async function erase(ask: () => Promise<Response>, io: Io): Promise<string> {
  for (let calls = 1; ; calls++) {
    const response = await ask()
    if (response.status !== 202) return (await readAnswer(response, 'action')).text
    const { left } = (await readAnswer(response, 'left')).fields
    if (calls === MOST_CALLS) throw new Refused('not all is erased; the edge goes on by itself')
    io.err(`plimsoll: ${(left as { readonly sessions: number }).sessions} sessions are left\n`)
  }
}

/** An answer with that field: a page that asks for a sign-in is answered with 200 too. */
async function readAnswer(response: Response, field: string) {
  const text = await response.text()
  const fields = parsed(text)
  if (!isRecord(fields) || !(field in fields)) throw new Refused('what answered is no edge')
  return { text, fields }
}

/** Writes the lines of an export; without its last one it is not whole. */
async function writeLines({ body }: Response, to: string | undefined, io: Io): Promise<number> {
  const file: LineWriter | undefined = to === undefined ? undefined : await io.create(to)
  const decoder = new TextDecoder()
  let rest = ''
  let last = ''
  const write = async (line: string): Promise<void> => {
    last = line
    if (file) await file.write(line)
    else io.out(`${line}\n`)
  }
  try {
    for await (const bytes of body ?? []) {
      const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) await write(line)
    }
  } finally {
    await file?.close()
  }
  if (rest === '' && isEnd(last)) return 0
  throw new Refused('the export ended before its last line: it is not whole')
}

function isEnd(line: string): boolean {
  const read = parsed(line)
  return isRecord(read) && read.type === 'end'
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function problemOf(response: Response): Promise<string> {
  const elsewhere = response.headers.get('Location')
  if (elsewhere !== null) return `it redirects to ${elsewhere}, which is not followed`
  try {
    const { code, detail } = (await response.json()) as { readonly code?: string; readonly detail?: string }
    return `${code}: ${detail}`
  } catch {
    return response.statusText
  }
}
