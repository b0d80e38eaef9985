/** What an attack does. Numbers choose among what is there when it is played. */
export type Command = At &
  (
    | { readonly do: 'say'; readonly text: string }
    | { readonly do: 'answer'; readonly text: string }
    /** `again`: the first of the calls has an id that was used before. */
    | { readonly do: 'call'; readonly calls: number; readonly again: boolean }
    | { readonly do: 'result'; readonly which: number; readonly text: string }
    /** Both tabs write at once. */
    | { readonly do: 'race'; readonly text: string }
    /** Something that was written is sent again, as it was or with another text. */
    | { readonly do: 'repeat'; readonly which: number; readonly changed: boolean }
    | { readonly do: 'context'; readonly as: 'plain' | 'preview' | 'manual'; readonly tail?: string }
    | { readonly do: 'past'; readonly which: number }
    | { readonly do: 'rewind'; readonly which: number }
    | { readonly do: 'undo' }
    | { readonly do: 'forget'; readonly which: number }
    /** A fact that was taken from a message. */
    | { readonly do: 'remember'; readonly which: number; readonly text: string }
    | { readonly do: 'export' }
    /** Ends the tab's process, and begins another one. */
    | { readonly do: 'reopen' }
    /**
     * The next commit but `after` fails, before or after it reached the store. `dies`: the process
     * ends with it, and its successor sends the same again.
     */
    | { readonly do: 'crash'; readonly reached: boolean; readonly dies: boolean; readonly after: number }
  )

interface At {
  readonly scope: number
  readonly tab: number
}

export const SCOPES = 4
export const TABS = 2

export interface Program {
  readonly store: 'map' | 'encrypted' | 'dexie' | 'sqlite'
  readonly counter: 'exact' | 'default'
  readonly line: number
  /** With facts and compaction. */
  readonly features: boolean
  readonly commands: readonly Command[]
}

const WORDS =
  'Turin platform ticket sleeper 漢字 émigré кот 한국어 🚆 {"a":[1,2]} QXZK-9921 deadbeefcafe \n\t --- const'.split(
    ' ',
  )

/** The same program for the same seed. */
export function generate(seed: number): Program {
  const random = randomFrom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const text = (most: number): string =>
    Array.from({ length: 1 + below(most) }, () => WORDS[below(WORDS.length)]).join(' ')
  // One long conversation is cut back more often than several short ones.
  const scopes = random() < 0.5 ? 1 : 2 + below(SCOPES - 1)
  const tabs = 1 + below(TABS)
  const command = (): Command => {
    const at = { scope: below(scopes), tab: below(tabs) }
    const drawn = random()
    if (drawn < 0.22) return { do: 'say', ...at, text: text(below(5) === 0 ? 400 : 40) }
    if (drawn < 0.3) return { do: 'answer', ...at, text: text(80) }
    if (drawn < 0.4) return { do: 'call', ...at, calls: 1 + below(3), again: random() < 0.2 }
    if (drawn < 0.55) return { do: 'result', ...at, which: below(8), text: text(below(4) === 0 ? 600 : 40) }
    if (drawn < 0.57) return { do: 'race', ...at, text: text(20) }
    if (drawn < 0.59) return { do: 'repeat', ...at, which: below(20), changed: random() < 0.5 }
    if (drawn < 0.82) {
      const as = below(20)
      return {
        do: 'context',
        ...at,
        as: as === 0 ? 'manual' : as < 3 ? 'preview' : 'plain',
        ...(as > 15 && { tail: text(60) }),
      }
    }
    if (drawn < 0.86) return { do: 'past', ...at, which: 1 + below(4) }
    if (drawn < 0.89) return { do: 'rewind', ...at, which: below(20) }
    if (drawn < 0.91) return { do: 'undo', ...at }
    if (drawn < 0.93) return { do: 'forget', ...at, which: below(20) }
    if (drawn < 0.94) return { do: 'export', ...at }
    if (drawn < 0.955) return { do: 'reopen', ...at }
    if (drawn < 0.97) return { do: 'remember', ...at, which: below(20), text: text(10) }
    return { do: 'crash', ...at, reached: random() < 0.5, dies: random() < 0.3, after: below(3) }
  }
  const store = random()
  return {
    store: store < 0.65 ? 'map' : store < 0.88 ? 'encrypted' : store < 0.94 ? 'dexie' : 'sqlite',
    counter: random() < 0.7 ? 'exact' : 'default',
    line: [600, 1_200, 3_000][below(3)] as number,
    features: random() < 0.3,
    commands: Array.from({ length: 10 + below(random() < 0.2 ? 150 : 60) }, command),
  }
}

/** The same numbers for the same seed (xorshift). */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e37_79b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
