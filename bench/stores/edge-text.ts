import { table } from '../table.ts'
import type { EdgeReport } from './edge.ts'
import { edgeRatios } from './edge-goals.ts'

export function edgeText(report: EdgeReport): string {
  const { durability, budgetTokens, subjects } = report
  return [
    `One call at the edge, bare workerd, medians over rounds; ${durability}; one object; ours with a budget of ${budgetTokens} tokens\n${table(
      subjects.map(({ name, call }) => [name, call]).map(([name = '', call = '']) => [`${name}: ${call}`]),
    )}`,
    callTable(report),
    `Object calls, commits to SQLite's write-ahead log, and rows by SQLite's count, of ours; median and most of a call\n${countTable(report)}`,
    `Filling a log in bulk, seconds\n${fillTable(report)}`,
  ].join('\n')
}

function callTable({ rows }: EdgeReport): string {
  const ratios = edgeRatios(rows)
  const head = ['', 'messages', 'to', 'c', 'calls/s', 'p50', 'p99', 'answer', 'CPU', 'calls', 'ours is']
  const lines = rows.map((row) => {
    const { subject, messages, grownTo, connections, perSecond, p50Ms, p99Ms, answerKiB, calls } = row
    const found = ratios.find(
      (ratio) => ratio.peer === subject && ratio.messages === messages && ratio.connections === connections,
    )
    return [
      subject,
      `${messages}`,
      `${grownTo}`,
      `${connections}`,
      `${perSecond}`,
      `${p50Ms} ms`,
      `${p99Ms} ms`,
      `${answerKiB} KiB`,
      row.cpuMicroseconds === undefined ? '' : `${row.cpuMicroseconds} us`,
      `${calls}`,
      found ? `${found.ratio} x` : '',
    ]
  })
  return table([head, ...lines])
}

function countTable({ counts }: EdgeReport): string {
  const head = ['messages', 'API calls', 'object calls', 'commits', 'epochs', 'rows read', 'written', 'shows']
  const lines = counts.map((count) => [
    `${count.messages}`,
    `${count.apiCalls}`,
    `${count.objectCalls}`,
    `${count.commits}`,
    `${count.beganEpochs}`,
    count.rowsRead.join(', '),
    count.rowsWritten.join(', '),
    `${count.shows}`,
  ])
  return table([head, ...lines])
}

function fillTable({ fills }: EdgeReport): string {
  const sizes = [...new Set(fills.map(({ messages }) => messages))]
  const names = [...new Set(fills.map(({ subject }) => subject))]
  const secondsOf = (name: string, size: number) =>
    fills.find(({ subject, messages }) => subject === name && messages === size)?.seconds
  return table([
    ['', ...sizes.map(String)],
    ...names.map((name) => [name, ...sizes.map((size) => `${secondsOf(name, size) ?? '-'}`)]),
  ])
}
