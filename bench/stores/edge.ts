/**
 * The stores at the edge: one bare workerd with the memory alone, a raw worker and Cloudflare's own
 * sessions, each in objects of its own on one disk, asked in turns by one client in another
 * process.
 */
import { rmSync } from 'node:fs'
import { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { median, round } from '../stats.ts'
import { type Counts, EXCHANGE_BYTES } from './edge-orders.ts'
import { BUDGET, COUNTED, type EdgeSubject, edgeSubjects } from './edge-workers.ts'
import { exchangeAt } from './messages.ts'
import { temporaryFolder } from './temporary.ts'
import { type EdgeFill, type EdgeRow, fillByOrder, type TurnPlan, takeTurns } from './turns.ts'
import { commitsBetween, walCommits } from './wal.ts'

export interface EdgePlan extends TurnPlan {
  /** API calls that are counted. */
  readonly counted: number
}

/** What one API call does inside the object, over some calls in a row. */
export interface EdgeCounts {
  readonly messages: number
  readonly apiCalls: number
  readonly objectCalls: number
  /** To SQLite's write-ahead log. */
  readonly commits: number
  readonly mostCommits: number
  /**
   * API calls with a transaction of more than one statement inside their one commit: the mark of an
   * epoch that began.
   */
  readonly beganEpochs: number
  /** Medians and most of a call, by SQLite's own count; writes include those of indexes. */
  readonly rowsRead: readonly [number, number]
  readonly rowsWritten: readonly [number, number]
  /** Mean of the messages that the context shows. */
  readonly shows: number
}

export interface EdgeReport {
  readonly durability: string
  readonly budgetTokens: number
  readonly subjects: readonly { readonly name: string; readonly call: string }[]
  readonly rows: readonly EdgeRow[]
  readonly fills: readonly EdgeFill[]
  readonly counts: readonly EdgeCounts[]
}

export const DURABILITY = 'an answer waits for the commit to the SQLite file (output gate)'
const MOST_COUNTED = 100_000

export async function measureEdge(plan: EdgePlan, progress: (line: string) => void): Promise<EdgeReport> {
  const folder = temporaryFolder()
  const all = await edgeSubjects(folder)
  const workerd = new BareWorkerd(
    folder,
    all.map(({ worker }) => worker),
  )
  // Before the folder goes, which it would write to.
  process.prependOnceListener('exit', () => void workerd.kill())
  try {
    await workerd.start()
    const subjects = all.filter(({ name }) => name !== COUNTED)
    const { rows, fills } = await takeTurns(subjects, workerd, plan, progress)
    const counted = all.find(({ name }) => name === COUNTED) as EdgeSubject
    progress('edge: counting')
    const counts: EdgeCounts[] = []
    for (const messages of plan.sizes.filter((size) => size <= MOST_COUNTED))
      counts.push(await count(counted, workerd.objects(counted.worker.uniqueKey), messages, plan.counted))
    return {
      durability: DURABILITY,
      budgetTokens: BUDGET,
      subjects: all.map(({ name, call }) => ({ name, call })),
      rows,
      fills,
      counts,
    }
  } finally {
    await workerd.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function count(
  { port }: EdgeSubject,
  objects: string,
  messages: number,
  calls: number,
): Promise<EdgeCounts> {
  const session = `counted-${messages}`
  const at = `http://127.0.0.1:${port}`
  await fillByOrder(port, session, messages)
  let number = messages
  const post = async (): Promise<number> => {
    const body = JSON.stringify({ messages: exchangeAt(number++, EXCHANGE_BYTES) })
    const answer = await fetch(`${at}/v1/sessions/${session}/context`, { method: 'POST', body })
    const { blocks } = (await answer.json()) as { blocks: unknown[] }
    return blocks.length
  }
  const take = async (): Promise<Counts> => (await fetch(`${at}/${session}`)).json() as Promise<Counts>
  await post()
  await take()
  const counts: Counts[] = []
  const shown: number[] = []
  const commits: number[] = []
  for (let made = 0; made < calls; made++) {
    const before = walCommits(objects)
    shown.push(await post())
    commits.push(commitsBetween(before, walCommits(objects)))
    counts.push(await take())
  }
  const middleAndMost = (key: keyof Counts): [number, number] => {
    const values = counts.map((one) => one[key] ?? 0)
    return [median(values), Math.max(...values)]
  }
  return {
    messages,
    apiCalls: calls,
    objectCalls: counts.reduce((sum, one) => sum + one.calls, 0),
    commits: commits.reduce((sum, made) => sum + made, 0),
    mostCommits: Math.max(...commits),
    beganEpochs: counts.filter(({ transactions }) => transactions > 0).length,
    rowsRead: middleAndMost('rowsRead'),
    rowsWritten: middleAndMost('rowsWritten'),
    shows: round(shown.reduce((sum, blocks) => sum + blocks, 0) / calls),
  }
}
