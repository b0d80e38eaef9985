/** What can happen, as data: a list of these is a run. Numbers are taken modulo what there is. */
export type Command =
  | { readonly do: 'append'; readonly tab: number; readonly shape: number; readonly at: number }
  | { readonly do: 'put'; readonly tab: number; readonly key: number; readonly from: number }
  | { readonly do: 'mark'; readonly tab: number; readonly shape: number; readonly from: number }
  | { readonly do: 'delete'; readonly tab: number; readonly target: number }
  | { readonly do: 'repeat'; readonly op: number }
  | { readonly do: 'erase'; readonly tab: number }
  /** An op of a kind that only a later version knows. */
  | { readonly do: 'unknown' }
  /** Reads the newest entries. */
  | { readonly do: 'older'; readonly tab: number; readonly count: number }
  | { readonly do: 'push'; readonly tab: number; readonly limit: number }
  | { readonly do: 'pull'; readonly tab: number; readonly limit: number }
  | { readonly do: 'deliver' | 'drop' | 'double'; readonly message: number }
  | { readonly do: 'crash'; readonly tab: number }
  | { readonly do: 'wipe'; readonly tab: number }
  | { readonly do: 'bookmark' }
  | { readonly do: 'restore'; readonly bookmark: number }

/** Numbers from 0 to below 1; the same for the same seed. */
export type Random = () => number

export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Whether in the run of a seed devices have a part of the log: in every second one. */
export function isPartial(seed: number): boolean {
  return seed % 2 === 0
}

/** How often each happens, of about 100. */
const SHARES: readonly (readonly [share: number, command: Command['do']])[] = [
  [12, 'append'],
  [8, 'put'],
  [6, 'mark'],
  [5, 'delete'],
  [2, 'repeat'],
  [0.3, 'erase'],
  [0.5, 'unknown'],
  [14, 'push'],
  [14, 'pull'],
  [30, 'deliver'],
  [3, 'drop'],
  [3, 'double'],
  [1.5, 'crash'],
  [0.5, 'wipe'],
  [1.2, 'bookmark'],
  [0.8, 'restore'],
]

/** Where devices have a part of the log: they look at more of it, too. */
const PARTIAL: typeof SHARES = [...SHARES, [6, 'older'], [2, 'crash']]

/** What happens next, of a number from 0 to below 1. */
export function chosen<What>(
  number: number,
  shares: readonly (readonly [share: number, what: What])[],
): What {
  let left = number * shares.reduce((sum, [share]) => sum + share, 0)
  const found = shares.find(([share]) => {
    left -= share
    return left < 0
  })
  return (found ?? (shares[0] as (typeof shares)[number]))[1]
}

/** The run of a seed. */
export function generate(seed: number, steps: number): readonly Command[] {
  const random = randomFrom(seed)
  const below = (count: number) => Math.floor(random() * count)
  return Array.from({ length: steps }, (): Command => {
    const what = chosen(random(), isPartial(seed) ? PARTIAL : SHARES)
    const tab = below(100)
    switch (what) {
      case 'append':
        return { do: what, tab, shape: below(9), at: below(100) }
      case 'put':
        return { do: what, tab, key: below(7), from: below(100) }
      case 'mark':
        return { do: what, tab, shape: below(7), from: below(100) }
      case 'delete':
        return { do: what, tab, target: below(106) }
      case 'repeat':
        return { do: what, op: below(100) }
      case 'older':
        return { do: what, tab, count: 1 + below(20) }
      case 'push':
      case 'pull':
        return { do: what, tab, limit: 1 + below(6) }
      case 'erase':
      case 'crash':
      case 'wipe':
        return { do: what, tab }
      case 'deliver':
      case 'drop':
      case 'double':
        return { do: what, message: below(1_000) }
      case 'restore':
        return { do: what, bookmark: below(100) }
      default:
        return { do: what }
    }
  })
}
