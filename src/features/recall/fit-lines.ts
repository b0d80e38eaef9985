import { headOf } from '../../kernel/text/text.ts'
import { longestHead } from '../text/longest-head.ts'

/** Share of the room that one line takes at most; of a longer one its beginning shows. */
const SHARE = 0.4

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
  const length = longestHead(line, (head) => count(`${head} …`) <= most)
  return length === 0 ? undefined : `${headOf(line, length)} …`
}
