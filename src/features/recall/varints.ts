/** Whole numbers (from 0 to 2^53) in 7 bits a byte, the lowest first. */
export function toVarints(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = []
  for (let rest of numbers) {
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128)
    bytes.push(rest)
  }
  return Uint8Array.from(bytes)
}

/** The numbers of {@link toVarints}. */
export function varintsIn(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = []
  let value = 0
  let scale = 1
  for (const byte of bytes) {
    value += (byte & 127) * scale
    scale *= 128
    if (byte > 127) continue
    numbers.push(value)
    value = 0
    scale = 1
  }
  return numbers
}
