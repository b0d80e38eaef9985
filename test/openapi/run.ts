/**
 * `npm run test:openapi [-- <requests> [<seed>]]`: generates types from the description that the
 * edge serves, compiles a client with them by TypeScript 5.9, runs it against the edge in a bare
 * workerd, and then sends random requests by the description, of which each answer must be as it
 * says. It stops by itself.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@cfworker/json-schema'
import { type Api, describedAnswer, OpenApiRequests } from '../everywhere/openapi-requests.ts'
import { randomFrom } from '../everywhere/random.ts'
import { BareWorkerd, edgeWorker } from '../kill/bare-workerd.ts'

const REQUESTS = Number(process.argv[2] ?? 2_000)
const SEED = Number(process.argv[3] ?? Math.trunc(Math.random() * 2 ** 31))
const HANG_MS = 60_000
const MOST_PROBLEMS = 20

const here = import.meta.dirname
const bin = (name: string, file: string): string => join(here, 'node_modules', name, file)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-openapi-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const edge = new BareWorkerd(folder, [edgeWorker(folder, { AUTH: 'development' })])
await edge.start()
try {
  const api = (await (await fetch(`${edge.url}/openapi.json`)).json()) as Api
  generate(api)
  run('compiles', bin('typescript', 'bin/tsc'), '--project', here)
  run('runs', join(here, 'use.ts'), edge.url)
  await sendRandom(api)
} finally {
  await edge.kill()
}

function generate(api: Api): void {
  mkdirSync(join(here, 'dist'), { recursive: true })
  const description = join(here, 'dist/openapi.json')
  writeFileSync(description, JSON.stringify(api))
  const types = join(here, 'dist/api.d.ts')
  run('generates', bin('openapi-typescript', 'bin/cli.js'), description, '--output', types)
}

function run(what: string, ...command: readonly string[]): void {
  const { status } = spawnSync(process.execPath, command, { cwd: here, stdio: 'inherit' })
  if (status !== 0) throw new Error(`a client ${what} no more: ${command.join(' ')}`)
}

async function sendRandom(api: Api): Promise<void> {
  console.log(`seed ${SEED}`)
  const requests = new OpenApiRequests(api, randomFrom(SEED))
  const problems: string[] = []
  const statuses = new Map<number, number>()
  const call = (method: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(edge.url + path, { ...init, method, signal: AbortSignal.timeout(HANG_MS) })
  for (let place = 0, isGone = true; place < REQUESTS && problems.length < MOST_PROBLEMS; place++) {
    if (isGone) await call('POST', '/v1/sessions', json({ session_id: 'trip' }))
    const { operation, method, path, headers, body } = requests.next({
      session: ['trip'],
      model: ['plimsoll'],
    })
    isGone = method === 'DELETE'
    const response = await call(method, path, {
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const type = response.headers.get('Content-Type')?.split(';')[0] ?? ''
    const { status } = response
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const said = describedAnswer(operation, status, type)
    const shown = `${method} ${path} ${JSON.stringify(headers)} ${body?.slice(0, 300)}\n  ${status} ${type} ${text.slice(0, 300)}`
    if (status >= 500 || said === undefined) problems.push(shown)
    else if (said !== true && type.endsWith('json')) {
      const schema = { ...said, components: api.components } as object
      const { valid, errors } = new Validator(schema, '2020-12').validate(JSON.parse(text))
      if (!valid) problems.push(`${shown}\n  ${JSON.stringify(errors.at(-1))}`)
    }
  }
  const counts = [...statuses].sort(([one], [other]) => one - other)
  console.log(`statuses ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
  for (const problem of problems) console.error(`\n${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

function json(body: unknown): RequestInit {
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}
