/**
 * Rows with cells of equal width in each column; those of the `right` columns end together, the
 * others begin so.
 */
export function align(rows: readonly (readonly string[])[], right: readonly number[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return right.includes(column) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  '),
  )
}
