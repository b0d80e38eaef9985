import { headOf } from '../text.ts'

/** Share of the room that one line takes at most; of a longer one its beginning shows. */
const SHARE = 0.4
/** Halvings of a text to find out how much of it fits. */
const STEPS = 12

/** As many lines as fit into so many tokens, in strict order. */
export function fitLines(
  lines: readonly string[],
  size: number,
  count: (text: string) => number,
): { readonly lines: readonly string[]; readonly tokens: number } {
  const fitting: string[] = []
  let tokens = 0
  for (const line of lines) {
    const shown = shortened(line, size * SHARE, count)
    if (shown === undefined) break
    const cost = count(`${shown}\n`)
    if (tokens + cost > size) break
    tokens += cost
    fitting.push(shown)
  }
  return { lines: fitting, tokens }
}

/** The beginning of a line, as much of it as fits; undefined where none of it does. */
function shortened(line: string, most: number, count: (text: string) => number): string | undefined {
  if (count(line) <= most) return line
  let low = 0
  let high = line.length
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) >> 1
    if (count(`${headOf(line, middle)} …`) <= most) low = middle
    else high = middle
  }
  return low === 0 ? undefined : `${headOf(line, low)} …`
}
