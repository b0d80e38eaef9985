declare function setTimeout(run: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void

/** Lets whatever waits go on. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

/** What a promise gives, or `late` after some milliseconds of real time. */
export async function within<Value, Late>(
  ms: number,
  work: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  let timer: unknown
  const limit = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
