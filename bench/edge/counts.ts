import { setTimeout as pause } from 'node:timers/promises'
import type { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { mean, median, round } from '../stats.ts'
import type { Counts } from '../stores/edge-orders.ts'
import { commitsBetween, type WalCommits, walCommits } from '../stores/wal.ts'
import { AFTER_MS, KINDS, makeCall } from './kinds.ts'
import type { EdgeSubject } from './subjects.ts'

/** What one API call does in objects, over some calls in a row: means, and medians and most. */
export interface CallCounts {
  readonly call: string
  readonly apiCalls: number
  /** Of methods of objects, both sessions' and users'. */
  readonly objectCalls: number
  /** That objects got over sockets. */
  readonly frames: number
  /** To the write-ahead logs of the session's object and of the user's. */
  readonly commits: readonly [number, number]
  /** Times that an alarm was set. */
  readonly alarms: number
  /** By SQLite's own count, in both objects; writes include those of indexes. */
  readonly rowsRead: readonly [mean: number, median: number, most: number]
  readonly rowsWritten: readonly [mean: number, median: number, most: number]
}

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
  for (const kind of KINDS) {
    const counts: Counts[] = []
    const commits: [number, number][] = []
    // The first may find something cold.
    for (let made = -1; made < apiCalls; made++) {
      await pause(AFTER_MS)
      await fetch(`${at}/counts`).then((answer) => answer.json())
      const before = logs()
      await makeCall(at, kind, 'counted', size + made)
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
    const all = (key: keyof Counts): number[] => counts.map((one) => one[key] ?? 0)
    const three = (values: readonly number[]): [number, number, number] => [
      round(mean(values)),
      median(values),
      Math.max(...values),
    ]
    counted.push({
      call: kind.call,
      apiCalls,
      objectCalls: round(mean(all('calls'))),
      frames: round(mean(all('frames'))),
      commits: [round(mean(commits.map(([own]) => own))), round(mean(commits.map(([, users]) => users)))],
      alarms: round(mean(all('alarms'))),
      rowsRead: three(all('rowsRead')),
      rowsWritten: three(all('rowsWritten')),
    })
  }
  return counted
}
