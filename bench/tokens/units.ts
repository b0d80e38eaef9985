/** A number of UTF-16 units in powers of two. */
export function sizeText(units: number): string {
  if (units >= 2 ** 20) return `${units / 2 ** 20} Mi`
  return units >= 2 ** 10 ? `${units / 2 ** 10} Ki` : `${units}`
}
