import type { EdgeReport } from '../edge.ts'
import { machineLine } from '../machine.ts'
import { type Goal, goalTable, table } from '../table.ts'
import { costTable, priceTable } from './cost.ts'
import { edgeRatios } from './goals.ts'

export function edgeText(report: EdgeReport & { readonly goals: readonly Goal[] }): string {
  const { subjects, durability, chats, counts, costs, sizes, goals } = report
  return [
    machineLine(report.machine),
    `One call at the edge, bare workerd, medians over rounds; ${durability}; one object\n${table(
      subjects.map(({ name, call }) => [`${name}: ${call}`]),
    )}`,
    callTable(report),
    `Milliseconds until the first words of a reply, median and 95th percentile\n${chatTable(chats)}`,
    `Inside the objects, one API call: means, rows also median and most\n${countTable(counts)}`,
    `What a million calls cost beyond what is included\n${costTable(costs)}`,
    `Prices of Workers Paid\n${priceTable()}`,
    `esbuild --bundle --minify, as wrangler does, gzip -9\n${sizeTable(sizes)}`,
    `Goals\n${goalTable(goals)}`,
  ].join('\n')
}

function callTable({ rows }: EdgeReport): string {
  const ratios = edgeRatios(rows)
  const head = [
    '',
    'messages',
    'to',
    'c',
    'calls/s',
    'p50',
    'p99',
    'answer',
    'CPU',
    'more',
    'calls',
    'of raw',
  ]
  const lines = rows.map((row) => {
    const { subject, messages, connections, cpuMicroseconds } = row
    const ratio = ratios.find(
      (one) => one.subject === subject && one.messages === messages && one.connections === connections,
    )
    return [
      subject,
      `${messages}`,
      `${row.grownTo}`,
      `${connections}`,
      `${row.perSecond}`,
      `${row.p50Ms} ms`,
      `${row.p99Ms} ms`,
      `${row.answerKiB} KiB`,
      cpuMicroseconds === undefined ? '' : `${cpuMicroseconds} us`,
      ratio?.moreCpu === undefined ? '' : `${ratio.moreCpu} us`,
      `${row.calls}`,
      ratio ? `${ratio.ofRaw} x` : '',
    ]
  })
  return table([head, ...lines])
}

function chatTable(chats: EdgeReport['chats']): string {
  const head = ['', 'model waits', 'replies', 'model', 'chat', 'over the model']
  const lines = chats.map(({ subject, delayMs, chats: replies, model, chat, overMs }) => [
    subject,
    `${delayMs} ms`,
    `${replies}`,
    model.join(', '),
    chat.join(', '),
    `${overMs} ms`,
  ])
  return table([head, ...lines])
}

function countTable(counts: EdgeReport['counts']): string {
  const head = ['', 'API calls', 'object calls', 'commits', 'of the user', 'alarms', 'rows read', 'written']
  const lines = counts.map((count) => [
    count.call,
    `${count.apiCalls}`,
    `${count.objectCalls}`,
    `${count.commits[0]}`,
    `${count.commits[1]}`,
    `${count.alarms}`,
    count.rowsRead.join(', '),
    count.rowsWritten.join(', '),
  ])
  return table([head, ...lines])
}

function sizeTable(sizes: EdgeReport['sizes']): string {
  const head = ['', 'gzip KiB', 'adds', 'minified KiB']
  const lines = sizes.map(({ name, gzipKiB, addsKiB, minifiedKiB }) => [
    name,
    gzipKiB.toFixed(1),
    addsKiB === undefined ? '' : addsKiB.toFixed(1),
    minifiedKiB.toFixed(1),
  ])
  return table([head, ...lines])
}
