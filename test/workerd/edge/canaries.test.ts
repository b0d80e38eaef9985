import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { SAMPLES } from '../../everywhere/edge-samples.ts'
import { isWhole } from '../../everywhere/runs.ts'
import { Caller, fetchWorker } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { encryption } from './opened.ts'
import { sessionObject, userObject } from './rows.ts'

/** In whatever is content: it is in no log and in no refusal. */
const CANARY = 'canary'
/** In what names something: a refusal may say it to the client that named it, and no log may. */
const MARK = 'idmark'
/** Keys of bodies whose values name something. */
const IDS = new Set([
  ...['id', 'session_id', 'message', 'undo', 'round', 'project', 'sources', 'supersedes', 'messageId'],
  ...['call_id', 'tool_call_id', 'name', 'sessions', 'show'],
])

let logged: string[] = []

beforeEach(() => {
  logged = []
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...said: unknown[]) => {
      logged.push(said.map((one) => (one instanceof Error ? `${one.stack}` : JSON.stringify(one))).join(' '))
    })
    onTestFinished(() => spy.mockRestore())
  }
})

let refusals = 0

/** Sends what a stranger wrote, and reads what is said of it. */
async function send(
  caller: Caller,
  method: string,
  path: string,
  body: string | undefined,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await caller.fetch(method, path, {
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'User-Agent': `${CANARY}-agent`,
      'X-Forwarded-For': `${CANARY}-address`,
      Cookie: `session=${CANARY}-cookie`,
      Referer: `https://app.test/${CANARY}`,
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  if (response.status >= 400) {
    refusals++
    expect(`${method} ${path} ${body?.slice(0, 500)} ${text}`.slice(-text.length)).not.toMatch(
      new RegExp(CANARY, 'i'),
    )
    expect(JSON.stringify([...response.headers])).not.toMatch(new RegExp(`${CANARY}|${MARK}`, 'i'))
  }
  return response.status
}

/**
 * Texts of JSON that are like a value, each with one thing in it that is the stranger's. @param
 * unknown a key that nothing has
 */
function* poisoned(value: unknown, unknown: string): Generator<string> {
  const whole = JSON.stringify(value)
  yield whole.slice(0, -1)
  yield `${whole}${CANARY}`
  yield JSON.stringify(`${CANARY} text`)
  for (const { holder, key, of } of nodesOf(value)) {
    const kept = holder[key]
    const name = IDS.has(Array.isArray(holder) ? of : key) ? MARK : CANARY
    for (const instead of [`${name} text`, { [CANARY]: CANARY }, [name], `${name}\ud800`, name.repeat(300)]) {
      holder[key] = instead
      yield JSON.stringify(value)
    }
    holder[key] = kept
    if (Array.isArray(holder)) continue
    holder[unknown] = kept
    yield JSON.stringify(value)
    delete holder[unknown]
  }
}

interface Node {
  readonly holder: Record<string, unknown>
  readonly key: string
  /** Key of the holder. */
  readonly of: string
}

function nodesOf(value: unknown, of = ''): readonly Node[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key, of }, ...nodesOf(holder[key], key)])
}

function checkLog(): void {
  expect(logged.filter((line) => new RegExp(`${CANARY}|${MARK}`, 'i').test(line))).toEqual([])
}

async function opened() {
  await useDemoModel()
  const caller = new Caller()
  const session = `${MARK}-${crypto.randomUUID()}`
  await caller.call('POST', '/v1/sessions', { session_id: session, title: `${CANARY} title` })
  return { caller, session, path: `/v1/sessions/${session}` }
}

/** Samples of each route. A push has one of them, of another shape for the next route. */
const SHAPES = 3

describe('what people say (T41)', () => {
  it.each(Object.keys(SAMPLES).map((route, at) => [route, at] as const))(
    'is in no refusal and in no log, whatever is wrong with it: %s',
    async (route, at) => {
      const { caller, session } = await opened()
      const [method = '', pattern = ''] = route.split(' ')
      const names: Record<string, string> = {
        session,
        fact: `${MARK}-fact`,
        entry: `${MARK}-entry`,
        n: '0',
        name: 'booking',
      }
      const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')
      refusals = 0
      for (const n of isWhole ? Array(SHAPES).keys() : [at % SHAPES]) {
        const sample = SAMPLES[route]?.(() => n, { session, fact: `${MARK}-fact` })
        if (typeof sample === 'string') {
          const type = { 'Content-Type': path.includes('skills') ? 'text/markdown' : 'text/plain' }
          for (const text of [
            `${CANARY}`,
            `---\n${CANARY}`,
            `---\nname: ${CANARY}\n---\n`,
            `---\n${CANARY}: [\n---\nx`,
          ])
            await send(caller, method, path, text, type)
          continue
        }
        // OpenAI's clients are told which field it is that is not supported.
        const unknown = `${route.includes('openai') ? MARK : CANARY}Key`
        for (const body of poisoned(sample, unknown))
          expect(await send(caller, method, path, body)).toBeLessThan(500)
      }
      expect(refusals).toBeGreaterThan(route.includes('parts') ? -1 : 3)
      checkLog()
    },
  )

  it('is in neither where it comes in a header, a query or a path', async () => {
    const { caller, path } = await opened()
    const long = MARK.repeat(60)
    for (const [method, to, headers] of [
      ['GET', `${path}/messages?rounds=${CANARY}`],
      ['GET', `${path}/facts?kinds=${CANARY}&all=${CANARY}&first=${CANARY}`],
      ['GET', `${path}/start?budget=${CANARY}`],
      ['GET', `${path}/explain?provider=${CANARY}`],
      ['GET', `/${CANARY}`],
      ['GET', `/v1/${CANARY}`],
      ['GET', `/v1/sessions/${MARK}-nowhere`],
      ['GET', `/v1/sessions/${long}`],
      ['GET', `${path}/live`, { Upgrade: CANARY }],
      ['PUT', `${path}/checkpoint`, { 'If-Match': CANARY }],
      ['PUT', `${path}/checkpoint`, { 'If-Match': `"${CANARY}"` }],
      ['PUT', `${path}/checkpoint`, { 'Content-Type': CANARY }],
      ['PUT', `${path}/checkpoint`, { 'Content-Encoding': CANARY }],
      ['PUT', `${path}/checkpoint`, { 'Idempotency-Key': CANARY.repeat(60) }],
      ['POST', `${path}/messages`, { Origin: `https://${CANARY}.test` }],
      ['POST', '/mcp', { 'Mcp-Protocol-Version': CANARY }],
      ['POST', '/mcp', { Accept: CANARY }],
      ['POST', '/v1/me/claim', {}],
    ] as const) {
      const body = method === 'GET' ? undefined : '{"value":1,"token":"canary"}'
      const status = await send(caller, method, to, body, headers as Record<string, string> | undefined)
      expect([to, status >= 400 && status < 500]).toEqual([to, true])
    }
    for (const token of [
      CANARY,
      `${CANARY}.${CANARY}.${CANARY}`,
      `${btoa(`{"alg":"HS256","kid":"${CANARY}"}`)}.e30.x`,
    ]) {
      const response = await fetchWorker('/v1/sessions', { headers: { Authorization: `Bearer ${token}` } })
      expect([response.status, (await response.text()).includes(CANARY)]).toEqual([401, false])
    }
    checkLog()
  })

  it('is in neither where the edge itself fails over it', async () => {
    const { caller, session, path } = await opened()
    await caller.call('POST', `${path}/messages`, {
      messages: [{ id: `${MARK}-1`, role: 'user', content: CANARY }],
    })
    await caller.call('PUT', '/v1/me/profile/about', { text: CANARY })
    const object = sessionObject(caller.user, session)
    await runInDurableObject(object, (_, { storage }) =>
      storage.sql.exec(`UPDATE plimsoll_log SET body = '{${CANARY}' WHERE kind = 'message'`),
    )
    await runInDurableObject(userObject(caller.user), (_, { storage }) =>
      storage.sql.exec(`UPDATE plimsoll_register SET body = '{${CANARY}' WHERE body IS NOT NULL`),
    )
    await evictDurableObject(object)
    await evictDurableObject(userObject(caller.user))
    // What cannot be decrypted is left out of lists.
    for (const [method, to, body] of [
      ['POST', `${path}/context`, '{}'],
      ['GET', `${path}/messages`],
      ['GET', `${path}/explain`],
      ['GET', '/v1/me/profile'],
      ['GET', '/v1/sessions'],
    ] as const)
      expect([to, await send(caller, method, to, body)]).toEqual([
        to,
        encryption && to.startsWith(path) ? 200 : 500,
      ])
    // So that this hears what is logged at all.
    expect(logged.length).toBeGreaterThanOrEqual(encryption ? 2 : 5)
    checkLog()
  })
})
