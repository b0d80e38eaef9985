import { table } from '../table.ts'
import type { BrowserReport, Part } from './browser.ts'
import { browserRatios } from './browser-goals.ts'

export function browserText(report: BrowserReport): string {
  const { chromium, exchangeBytes, budgetTokens, reads, imports, fills } = report
  const titles: Readonly<Record<Part, string>> = {
    append: 'One exchange, durable',
    call: `One exchange and then what a model is shown: ours a context of ${budgetTokens} tokens (${reads.ours} messages), Dexie the last ${reads.peers} rows`,
    reopen: 'The first such read of a database that was closed',
    import: `${imports.messages} messages into an empty log, ${imports.batch} a transaction`,
    end: 'The end of a log',
  }
  const filled = fills.map(({ messages, seconds }) => `${messages} messages in ${seconds} s`)
  return [
    `Chromium ${chromium}, a profile on disk; messages of ${exchangeBytes.join(' and ')} bytes. strict: on disk when it resolves; relaxed: with the operating system\n`,
    ...Object.entries(titles).map(([part, title]) => `${title}\n${partTable(report, part as Part)}`),
    `Logs filled by session.append: ${filled.join(', ')}\n`,
  ].join('\n')
}

function partTable({ rows }: BrowserReport, part: Part): string {
  const ratios = browserRatios(rows)
  const head = ['', 'durability', 'messages', 'p50', 'p99', 'samples', 'ours is']
  const lines = rows
    .filter((row) => row.part === part)
    .map(({ what, durability, messages, p50Ms, p99Ms, samples }) => {
      const found = ratios.find(
        (ratio) => ratio.part === part && ratio.durability === durability && ratio.peer === what,
      )
      return [
        what,
        durability,
        `${messages ?? ''}`,
        `${p50Ms} ms`,
        `${p99Ms} ms`,
        `${samples}`,
        found && part !== 'end' ? `${found.ratio} x` : '',
      ]
    })
  return table([head, ...lines])
}
