/**
 * Lines of text with columns as wide as they need; the first column left, the others right aligned.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return `${rows.map(line).join('\n')}\n`
}

/** A duration in the unit that reads best. */
export function time(microseconds: number): string {
  if (microseconds >= 1e6) return `${(microseconds / 1e6).toPrecision(3)} s`
  if (microseconds >= 1e3) return `${(microseconds / 1e3).toPrecision(3)} ms`
  return `${microseconds.toPrecision(3)} us`
}

export interface Goal {
  readonly goal: string
  readonly measured: string
  /** `undefined` where this run did not measure it. */
  readonly holds: boolean | undefined
}

export function goalTable(goals: readonly Goal[]): string {
  const word = (holds: boolean | undefined) => (holds === undefined ? 'not run' : holds ? 'holds' : 'MISSED')
  return table([
    ['goal', 'measured', ''],
    ...goals.map(({ goal, measured, holds }) => [goal, measured, word(holds)]),
  ])
}
