import { round } from '../stats.ts'
import { table } from '../table.ts'
import { transferRatios } from './goals.ts'
import type { PokeRow } from './pokes.ts'
import type { Direction, TransferReport, TransferRow } from './transfer.ts'

const TITLES: Readonly<Record<Direction, string>> = {
  push: 'Written without a network, then sent: until all of it is confirmed',
  pull: 'Fetched by a second device: until all of it is in its database',
}

export function transferText({ chromium, exchanges, rows }: TransferReport): string {
  const kilobytes = round((rows[0]?.rawBytes ?? 0) / 1_000)
  const parts = (['push', 'pull'] as const).map(
    (direction) => `${TITLES[direction]}\n${directionTable(rows, direction)}`,
  )
  return [
    `Chromium ${chromium}, two profiles on disk; ${exchanges} exchanges, as raw JSON with ids and times ${kilobytes} kB. strict: on disk when it resolves; relaxed: with the operating system. The server answers when it is on disk\n`,
    ...parts,
  ].join('\n')
}

function directionTable(rows: readonly TransferRow[], direction: Direction): string {
  const ratios = transferRatios(rows)
  const lines = rows
    .filter((row) => row.direction === direction)
    .map(({ subject, durability, ms, leastMs, mostMs, requests, upBytes, downBytes, rawBytes }) => {
      const found = ratios.find(
        (ratio) => ratio.direction === direction && ratio.durability === durability && ratio.peer === subject,
      )
      return [
        subject,
        durability,
        `${ms} ms`,
        `${leastMs} to ${mostMs}`,
        `${requests}`,
        (upBytes / rawBytes).toFixed(3),
        (downBytes / rawBytes).toFixed(3),
        found ? `${found.ratio} x` : '',
      ]
    })
  return table([
    ['', 'durability', 'p50', 'least to most', 'requests', 'bytes up', 'bytes down', 'ours is'],
    ...lines,
  ])
}

export function pokesText(pokes: readonly PokeRow[]): string {
  const lines = pokes.map(({ home, samples, p50Ms, p95Ms }) => [
    home,
    `${samples}`,
    `${p50Ms} ms`,
    `${p95Ms} ms`,
  ])
  return `A message from append() on one screen until it shows on the other\n${table([['', 'samples', 'p50', 'p95'], ...lines])}`
}
