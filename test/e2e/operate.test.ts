/** The runbook's commands, against a real `wrangler dev`, and what it shows of the log. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edgeVariables } from '../edge-variables.ts'
import { outputsOf, patternOf, stepsOf } from '../page-commands.ts'
import { EdgeProcess } from './support/edge-process.ts'
import { type ModelServer, modelServer } from './support/model-server.ts'
import { TENANT, tokenOf } from './support/token.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/operate.md'), 'utf8')
const steps = stepsOf(page)
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-operate-'))
const QUESTION = 'At 9:40 to Turin, please.'

let model: ModelServer
let edge: EdgeProcess
let outputs: readonly string[] = []

beforeAll(async () => {
  model = await modelServer()
  edge = await EdgeProcess.start({
    ...{ MODEL_BASE_URL: model.url, MODEL_ID: 'tests', LOG: 'all' },
    MODEL_PRICES: 'input=2.5 cached=0.25 write=3.125 output=10',
  })
  model.queue([{ text: 'It is booked.' }])
  const headers = { Authorization: `Bearer ${await tokenOf('ada')}`, 'Content-Type': 'application/json' }
  const post = async (path: string, body: object): Promise<string> =>
    (await fetch(`${edge.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).text()
  await post('/v1/sessions', { session_id: 'trip' })
  expect(await post('/v1/sessions/trip/chat', { message: QUESTION })).toContain('"finishReason":"stop"')
  await post('/v1/sessions/trip/context', {})
  const { OPERATOR_SECRET } = edgeVariables
  const blocks = steps.map(({ commands }) => commands.replaceAll('ada.jsonl', join(folder, 'ada.jsonl')))
  // A dry run would build the page first, which other tests serve meanwhile.
  const env = { EDGE: edge.url, OPERATOR_SECRET, npm_config_ignore_scripts: 'true' }
  outputs = await outputsOf(blocks, { cwd: root, env })
}, 150_000)

afterAll(async () => {
  await edge?.stop()
  await model?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the runbook prints what it says', () => {
  it('and says of whom the commands are', () => expect(page).toContain(`ada --tenant ${TENANT} `))

  for (const [index, { commands, shown }] of steps.entries())
    it(`for ${commands.trim().split('\n').at(-1)}`, () =>
      expect(outputs[index], edge.said).toMatch(patternOf(shown)))

  it('and runs everything but what needs an account', () => {
    const left = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)
    expect(left.every((text) => /wrangler|api\.cloudflare\.com/.test(text))).toBe(true)
  })
})

describe('the log of the edge', () => {
  const lines = (): readonly Record<string, unknown>[] =>
    edge.said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  it('has the fields that the page shows, of a context and of a run', () => {
    const [request, run] = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(
      ([, text = '']) => JSON.parse(text) as Record<string, unknown>,
    )
    const context = lines().find(({ route }) => route === request?.route)
    expect(Object.keys(context ?? {}).sort()).toEqual(Object.keys(request ?? {}).sort())
    const ended = lines().find(({ object }) => object === 'session')
    expect(Object.keys(ended ?? {}).sort()).toEqual(Object.keys(run ?? {}).sort())
    expect(ended).toMatchObject({ status: 'done', calls: 1, model: expect.any(String) })
  })

  it('has one line a request, the chat with its run, and nothing that was said', () => {
    const runs = lines().flatMap(({ run }) => run ?? [])
    expect(runs).toHaveLength(2)
    expect(new Set(runs).size).toBe(1)
    const ids = lines().flatMap(({ requestId }) => requestId ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    const all = lines()
      .map((line) => JSON.stringify(line))
      .join('\n')
    for (const word of [QUESTION, 'It is booked.', 'acme', 'trip', edgeVariables.OPERATOR_SECRET])
      expect(all).not.toContain(word)
    // Within ids these letters come by chance.
    expect(all).not.toMatch(/(?<![0-9a-f])ada(?![0-9a-f])/)
  })
})
