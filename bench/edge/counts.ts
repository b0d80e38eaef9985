import { setTimeout as pause } from 'node:timers/promises'
import type { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { mean, median, round } from '../stats.ts'
import { type Counts, EXCHANGE_BYTES } from '../stores/edge-orders.ts'
import { exchangeAt } from '../stores/messages.ts'
import { commitsBetween, type WalCommits, walCommits } from '../stores/wal.ts'
import type { EdgeSubject } from './subjects.ts'

/** What one API call does in objects, over some calls in a row: means, and medians and most. */
export interface CallCounts {
  readonly call: string
  readonly apiCalls: number
  /** Of methods of objects, both sessions' and users'. */
  readonly objectCalls: number
  /** To the write-ahead logs of the session's object and of the user's. */
  readonly commits: readonly [number, number]
  /** Times that an alarm was set. */
  readonly alarms: number
  /** By SQLite's own count, in both objects; writes include those of indexes. */
  readonly rowsRead: readonly [mean: number, median: number, most: number]
  readonly rowsWritten: readonly [mean: number, median: number, most: number]
}

interface Kind {
  readonly call: string
  readonly method: string
  readonly path: string
  readonly body?: (number: number) => object
}

const SESSION = '/v1/sessions/counted'
const messages = (number: number): object => ({ messages: exchangeAt(number, EXCHANGE_BYTES) })

const KINDS: readonly Kind[] = [
  { call: 'context with two messages', method: 'POST', path: `${SESSION}/context`, body: messages },
  { call: 'append of two messages', method: 'POST', path: `${SESSION}/messages`, body: messages },
  { call: 'context alone', method: 'POST', path: `${SESSION}/context`, body: () => ({}) },
  { call: 'the last 50 messages', method: 'GET', path: `${SESSION}/messages` },
  {
    call: 'fact',
    method: 'POST',
    path: `${SESSION}/facts`,
    body: (number) => ({
      kind: 'finding',
      text: `Finding ${number}: ${exchangeAt(number, [80, 1])[0]?.content}`,
    }),
  },
  {
    call: 'checkpoint',
    method: 'PUT',
    path: `${SESSION}/checkpoint`,
    body: (number) => ({ value: { step: number } }),
  },
  {
    call: 'chat of one step',
    method: 'POST',
    path: `${SESSION}/chat`,
    body: (number) => ({ message: exchangeAt(number, EXCHANGE_BYTES)[0]?.content }),
  },
  {
    call: 'new session',
    method: 'POST',
    path: '/v1/sessions',
    body: (number) => ({ session_id: `new-${number}` }),
  },
]
/** What goes on after an answer, for example a hint to others, is done by then. */
const AFTER_MS = 25

export async function measureCounts(
  subject: EdgeSubject,
  workerd: BareWorkerd,
  apiCalls: number,
  size: number,
): Promise<CallCounts[]> {
  const at = `http://127.0.0.1:${subject.port}`
  const folders = [subject.worker, ...(subject.worker.others ?? [])].map(({ uniqueKey }) =>
    workerd.objects(uniqueKey),
  )
  const logs = (): WalCommits[] => folders.map(walCommits)
  await subject.fill('counted', size)
  const counted: CallCounts[] = []
  for (const { call, method, path, body } of KINDS) {
    const counts: Counts[] = []
    const commits: [number, number][] = []
    // The first may find something cold.
    for (let made = -1; made < apiCalls; made++) {
      await pause(AFTER_MS)
      await fetch(`${at}/counts`).then((answer) => answer.json())
      const before = logs()
      const answer = await fetch(at + path, {
        method,
        ...(body && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body(size + made)),
        }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${call}: ${answer.status} ${text}`)
      await pause(AFTER_MS)
      const after = logs()
      const one = (await (await fetch(`${at}/counts`)).json()) as Counts
      if (made < 0) continue
      const [session = 0, user = 0] = after.map((log, index) =>
        commitsBetween(before[index] as WalCommits, log),
      )
      commits.push([session, user])
      counts.push(one)
    }
    const all = (key: keyof Counts): number[] => counts.map((one) => one[key])
    const three = (values: readonly number[]): [number, number, number] => [
      round(mean(values)),
      median(values),
      Math.max(...values),
    ]
    counted.push({
      call,
      apiCalls,
      objectCalls: round(mean(all('calls'))),
      commits: [round(mean(commits.map(([own]) => own))), round(mean(commits.map(([, users]) => users)))],
      alarms: round(mean(all('alarms'))),
      rowsRead: three(all('rowsRead')),
      rowsWritten: three(all('rowsWritten')),
    })
  }
  return counted
}
