/** The value of a text; undefined: it is no JSON. */
export function jsonIn(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
