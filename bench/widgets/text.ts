import { type Machine, machineLine } from '../machine.ts'
import { goalTable, table } from '../table.ts'
import { widgetsGoals } from './goals.ts'
import type { Figures, WidgetRow, WidgetsReport } from './measure.ts'
import { PAGED } from './subjects.ts'
import { SCROLLED, type Work } from './visit.ts'

interface Report extends WidgetsReport {
  readonly machine: Machine
  readonly messages: number
  readonly rounds: number
  readonly reactKiB: number
}

export function widgetsText(report: Report): string {
  const { machine, chromium, viewport, messages, rounds, reactKiB, rows } = report
  const size = `${viewport.width} x ${viewport.height}`
  return [
    machineLine(machine),
    `Chromium ${chromium}, ${size}; ${messages} messages; medians of visits in turns, ${rounds} rounds\n`,
    `What a page loads: scripts and styles, gzip -9. React alone is ${reactKiB.toFixed(1)} KiB of it, where it is used\n${weights(rows)}`,
    `Until the newest message stands on the screen\n${openings(rows)}`,
    `Memory after garbage collection, opened and after scrolling up ${SCROLLED} screens\n${memory(rows)}`,
    `Scrolling up ${SCROLLED} screens\n${scrolls(rows)}`,
    ...rows.flatMap(({ name, note }) => (note ? [`${name}: ${note}\n`] : [])),
    `Goals\n${goalTable(widgetsGoals(rows))}`,
    rows.map(({ name, about }) => `${name}: ${about}\n`).join(''),
  ].join('\n')
}

const weights = (rows: readonly WidgetRow[]): string =>
  table([
    ['', 'loaded KiB', 'files', 'later KiB', 'files'],
    ...rows.map(({ name, loaded, later }) => [
      name,
      loaded.gzipKiB.toFixed(1),
      `${loaded.files}`,
      later.gzipKiB.toFixed(1),
      `${later.files}`,
    ]),
  ])

const openings = (rows: readonly WidgetRow[]): string =>
  table([
    ['', 'p50 ms', 'range', `of ${PAGED}`, 'processor ms', 'longest task ms', 'visits'],
    ...rows.map(({ name, openMs, openMsRange, openOfPaged, opening, visits }) => [
      name,
      whole(openMs),
      openMsRange?.join(' - ') ?? '',
      openOfPaged?.toFixed(2) ?? '',
      ...work(opening),
      `${visits}`,
    ]),
  ])

const memory = (rows: readonly WidgetRow[]): string =>
  table([
    ['', 'heap MiB', 'nodes', 'listeners', 'then heap MiB', 'nodes', 'listeners'],
    ...rows.map(({ name, opened, scrolled }) => [name, ...figures(opened), ...figures(scrolled)]),
  ])

const scrolls = (rows: readonly WidgetRow[]): string =>
  table([
    ['', 'processor ms', 'longest task ms', 'topmost message'],
    ...rows.map(({ name, scrolling, topmost }) => [name, ...work(scrolling), whole(topmost)]),
  ])

const figures = (of: Figures | undefined): string[] => [
  of?.heapMiB.toFixed(1) ?? '',
  whole(of?.nodes),
  whole(of?.listeners),
]

/** Browsers tell of tasks of 50 ms and more. */
const work = (of: Work | undefined): string[] => [
  whole(of?.cpuMs),
  of?.longestTaskMs === 0 ? '< 50' : whole(of?.longestTaskMs),
]

const whole = (value: number | undefined): string => (value === undefined ? '' : `${Math.round(value)}`)
