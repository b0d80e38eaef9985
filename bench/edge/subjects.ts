import { SignJWT } from 'jose'
import type { BareWorker } from '../../test/kill/bare-workerd.ts'
import { EXCHANGE_BYTES } from '../stores/edge-orders.ts'
import { BUDGET, bundleWorkers, freePorts } from '../stores/edge-workers.ts'
import { exchangeAt } from '../stores/messages.ts'
import { fillByOrder, type TurnSubject } from '../stores/turns.ts'

export const RAW = 'raw'
export const ALONE = 'plimsoll, memory alone'
export const OPEN = 'plimsoll'
export const SIGNED = 'plimsoll, JWT'
export const OPEN_WITHOUT_RECALL = 'plimsoll, RECALL=off'
export const SIGNED_WITHOUT_RECALL = 'plimsoll, JWT, RECALL=off'

export interface EdgeSubject extends TurnSubject {
  readonly worker: BareWorker
  /** What one call does. */
  readonly call: string
}

export interface EdgeSubjects {
  /** To be timed. */
  readonly timed: readonly EdgeSubject[]
  /** Where what a call does is counted. */
  readonly counted: EdgeSubject
}

const SECRET = 'a secret of the bench, 32 bytes or more'
const ISSUER = 'https://issuer.example'
const AUDIENCE = 'plimsoll'
/** Longer than any bench. */
const TOKEN_SECONDS = 86_400
/** Messages that one call of the API takes. */
const FILL_BATCH = 100
const CALL = `POST /v1/sessions/:id/context with two messages, budget ${BUDGET} tokens`

/** Bundles the workers into a folder: all subjects, for one process. */
export async function edgeSubjects(folder: string, modelUrl: string): Promise<EdgeSubjects> {
  await bundleWorkers(
    folder,
    [
      '../../worker/index.ts',
      'workers/counted.ts',
      '../stores/workers/plimsoll.ts',
      '../stores/workers/raw.ts',
    ].map((path) => new URL(path, import.meta.url)),
  )
  const ports = await freePorts(7)
  const headers = { Authorization: `Bearer ${await token()}` }
  const development = { AUTH: 'development' }
  const signed = { JWT_SECRET: SECRET, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE }
  const bare = (name: string, subject: string, call: string, worker: Partial<BareWorker>): EdgeSubject => {
    const port = ports.pop() ?? 0
    return {
      name: subject,
      call,
      port,
      fill: (session, messages) => fillByOrder(port, session, messages),
      worker: {
        name,
        port,
        module: `${name}.js`,
        binding: 'LOGS',
        className: 'RawLog',
        uniqueKey: name,
        ...worker,
      },
    }
  }
  const full = (
    name: string,
    subject: string,
    variables: Readonly<Record<string, string>>,
    worker: Partial<BareWorker> = {},
  ): EdgeSubject => {
    const port = ports.pop() ?? 0
    const sent = 'AUTH' in variables ? {} : headers
    return {
      name: subject,
      call: CALL,
      port,
      headers: sent,
      fill: (session, messages) => fillByApi(`http://127.0.0.1:${port}`, sent, session, messages),
      worker: {
        name,
        port,
        module: 'index.js',
        binding: 'SESSIONS',
        className: 'SessionObject',
        uniqueKey: `${name}-session`,
        others: [{ binding: 'USERS', className: 'UserObject', uniqueKey: `${name}-user` }],
        variables: { BUDGET: `${BUDGET}`, MODEL_BASE_URL: modelUrl, MODEL_ID: 'bench', ...variables },
        ...worker,
      },
    }
  }
  const off = { RECALL: 'off' }
  return {
    timed: [
      bare('raw', RAW, 'INSERT two rows, SELECT the last 40', {}),
      bare('plimsoll', ALONE, `${CALL}; one object, no accounts`, {
        binding: 'SESSIONS',
        className: 'BenchSession',
        variables: { BUDGET: `${BUDGET}` },
      }),
      full('open', OPEN, development),
      full('signed', SIGNED, signed),
      full('openoff', OPEN_WITHOUT_RECALL, { ...development, ...off }),
      full('signedoff', SIGNED_WITHOUT_RECALL, { ...signed, ...off }),
    ],
    counted: full('counted', 'plimsoll, counted', development, {
      module: 'counted.js',
      className: 'CountedSession',
      others: [{ binding: 'USERS', className: 'CountedUser', uniqueKey: 'counted-user' }],
    }),
  }
}

/** Makes a session, and appends to it, as any client does. */
export async function fillByApi(
  url: string,
  headers: Readonly<Record<string, string>>,
  session: string,
  messages: number,
): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`could not fill ${session}: ${text}`)
  }
  await post('/v1/sessions', { session_id: session })
  for (let from = 0; from < messages; from += FILL_BATCH) {
    const exchanges = Array.from({ length: Math.min(FILL_BATCH, messages - from) / 2 }, (_, index) =>
      exchangeAt(from / 2 + index, EXCHANGE_BYTES),
    )
    await post(`/v1/sessions/${session}/messages`, { messages: exchanges.flat() })
  }
}

function token(): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('bench')
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .sign(new TextEncoder().encode(SECRET))
}
