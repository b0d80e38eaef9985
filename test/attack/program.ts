/** What an attack does. Numbers choose among what is there when it is played. */
export type Command = At &
  (
    | { readonly do: 'say'; readonly text: string }
    | { readonly do: 'answer'; readonly text: string }
    /** `again`: the first of the calls has an id that was used before. */
    | { readonly do: 'call'; readonly calls: number; readonly again: boolean }
    | { readonly do: 'result'; readonly which: number; readonly text: string }
    /** `again`: a message that names a file that is there. `alone`: no message names it. */
    | { readonly do: 'file'; readonly as: 'named' | 'alone' | 'again'; readonly which: number }
    /** Says something in place of a message of the user. */
    | { readonly do: 'edit'; readonly which: number; readonly text: string }
    /** Both tabs write at once. */
    | { readonly do: 'race'; readonly text: string }
    /** One tab forgets a message while the other does something. */
    | {
        readonly do: 'race-forget'
        readonly which: number
        readonly beside: 'context' | 'compaction' | 'remember' | 'forget' | 'say'
      }
    /** Something that was written is sent again, as it was or with another text. */
    | { readonly do: 'repeat'; readonly which: number; readonly changed: boolean }
    | {
        readonly do: 'context'
        readonly as: 'plain' | 'preview' | 'manual'
        readonly tail?: string
        /** Which of the sets of tools. */
        readonly tools: number
        readonly recall: boolean
      }
    | { readonly do: 'past'; readonly which: number }
    | { readonly do: 'rewind'; readonly which: number }
    | { readonly do: 'undo' }
    /** Shows another version of what was edited or taken back. */
    | { readonly do: 'switch'; readonly which: number }
    | { readonly do: 'forget'; readonly of: 'message' | 'fact'; readonly which: number }
    /** A fact that was taken from a message, or from another fact. */
    | {
        readonly do: 'remember'
        readonly kind: 'finding' | 'preference'
        readonly from: 'message' | 'fact'
        readonly which: number
        readonly text: string
      }
    /** A message with a fact that is taken from it, and with the checkpoint. */
    | { readonly do: 'commit'; readonly text: string }
    | { readonly do: 'recall'; readonly as: 'find' | 'page' | 'user'; readonly which: number }
    | { readonly do: 'checkpoint'; readonly as: Change }
    | { readonly do: 'document'; readonly as: Change; readonly name: number; readonly text: string }
    | {
        readonly do: 'skill'
        readonly as: 'set' | 'text' | 'delete' | 'load' | 'unload'
        readonly name: number
      }
    /** Time goes by, in hours. */
    | { readonly do: 'wait'; readonly hours: number }
    /** What is due is done. */
    | { readonly do: 'work' }
    | { readonly do: 'export' }
    /** All of a user is taken elsewhere. */
    | { readonly do: 'copy' }
    /** Ends the tab's process, and begins another one. */
    | { readonly do: 'reopen' }
    /**
     * The next write but `after` fails, before or after it reached the store. `dies`: the process
     * ends with it, and its successor sends the same again.
     */
    | { readonly do: 'crash'; readonly reached: boolean; readonly dies: boolean; readonly after: number }
  )

/** `stale`: over a version that another tab has written over. `race`: both tabs at once. */
export type Change = 'set' | 'update' | 'stale' | 'race' | 'delete'

export interface At {
  readonly scope: number
  readonly tab: number
}

export const SCOPES = 4
export const TABS = 2

export interface Program {
  readonly store: 'map' | 'encrypted' | 'dexie' | 'object' | 'sqlite'
  readonly counter: 'exact' | 'default'
  readonly line: number
  /** `some`: facts and compaction. */
  readonly features: 'none' | 'some' | 'all'
  /** Days for which messages, facts and checkpoints are kept, with all features. */
  readonly kept?: { readonly log?: number; readonly facts?: number; readonly checkpoint?: number }
  readonly commands: readonly Command[]
}

const WORDS =
  'Turin platform ticket sleeper 漢字 émigré кот 한국어 🚆 {"a":[1,2]} QXZK-9921 deadbeefcafe \n\t --- const'.split(
    ' ',
  )
/** From which a fact is extracted. */
const RULE = 'Never book a seat in the last coach.'
const CHANGES: readonly Change[] = ['set', 'update', 'update', 'stale', 'race', 'delete']

/** The same program for the same seed. */
export function generate(seed: number): Program {
  const random = randomFrom(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const one = <T>(...choices: readonly T[]): T => choices[below(choices.length)] as T
  const text = (most: number): string =>
    Array.from({ length: 1 + below(most) }, () => one(...WORDS)).join(' ')
  // One long conversation is cut back more often than several short ones.
  const scopes = random() < 0.5 ? 1 : 2 + below(SCOPES - 1)
  const tabs = 1 + below(TABS)
  const at = (): At => ({ scope: below(scopes), tab: below(tabs) })
  const talk = (): Command => {
    const drawn = random()
    if (drawn < 0.38)
      return { do: 'say', ...at(), text: below(12) === 0 ? RULE : text(below(5) === 0 ? 400 : 40) }
    if (drawn < 0.52) return { do: 'answer', ...at(), text: text(80) }
    if (drawn < 0.68) return { do: 'call', ...at(), calls: 1 + below(3), again: random() < 0.2 }
    if (drawn < 0.92) return { do: 'result', ...at(), which: below(8), text: text(below(4) === 0 ? 600 : 40) }
    if (drawn < 0.96)
      return { do: 'file', ...at(), as: one('named', 'named', 'again', 'alone'), which: below(20) }
    if (drawn < 0.98) return { do: 'race', ...at(), text: text(20) }
    return { do: 'repeat', ...at(), which: below(20), changed: random() < 0.5 }
  }
  const read = (): Command => {
    const drawn = random()
    if (drawn < 0.82)
      return {
        do: 'context',
        ...at(),
        as: one('plain', 'plain', 'plain', 'plain', 'plain', 'plain', 'preview', 'manual'),
        tools: below(4) === 0 ? 1 + below(2) : 0,
        recall: below(4) === 0,
        ...(below(5) === 0 && { tail: text(60) }),
      }
    if (drawn < 0.96) return { do: 'past', ...at(), which: 1 + below(4) }
    if (drawn < 0.99) return { do: 'export', ...at() }
    return { do: 'copy', ...at() }
  }
  const change = (): Command => {
    const drawn = random()
    if (drawn < 0.16) return { do: 'rewind', ...at(), which: below(20) }
    if (drawn < 0.23) return { do: 'undo', ...at() }
    if (drawn < 0.27) return { do: 'switch', ...at(), which: below(20) }
    if (drawn < 0.34) return { do: 'edit', ...at(), which: below(20), text: text(30) }
    if (drawn < 0.46)
      return { do: 'forget', ...at(), of: one('message', 'message', 'fact'), which: below(20) }
    if (drawn < 0.54) {
      const beside = one('context', 'context', 'compaction', 'remember', 'forget', 'say')
      return { do: 'race-forget', ...at(), which: below(20), beside }
    }
    if (drawn < 0.62) return { do: 'reopen', ...at() }
    if (drawn < 0.78)
      return { do: 'crash', ...at(), reached: random() < 0.5, dies: random() < 0.3, after: below(3) }
    const kind = one('finding', 'preference')
    const from = one('message', 'message', 'fact')
    return { do: 'remember', ...at(), kind, from, which: below(20), text: text(10) }
  }
  const keep = (): Command => {
    const drawn = random()
    if (drawn < 0.15) return { do: 'commit', ...at(), text: text(20) }
    if (drawn < 0.35) return { do: 'recall', ...at(), as: one('find', 'page', 'user'), which: below(20) }
    if (drawn < 0.5) return { do: 'checkpoint', ...at(), as: one(...CHANGES) }
    if (drawn < 0.65) return { do: 'document', ...at(), as: one(...CHANGES), name: below(2), text: text(20) }
    if (drawn < 0.8) {
      const as = one('set', 'set', 'text', 'delete', 'load', 'load', 'unload')
      return { do: 'skill', ...at(), as, name: below(2) }
    }
    if (drawn < 0.92) return { do: 'wait', ...at(), hours: 1 + below(30) }
    return { do: 'work', ...at() }
  }
  const features = one('none', 'none', 'some', 'all', 'all')
  const kept = features === 'all' ? one(0.05, 0.15, 0.4) : 0
  const command = (): Command => {
    if (random() < kept) return keep()
    const drawn = random()
    if (drawn < 0.52) return talk()
    return drawn < 0.78 ? read() : change()
  }
  const days = (): number | undefined => (below(3) === 0 ? undefined : 1 + below(3))
  return {
    store: storeOf(random()),
    counter: random() < 0.7 ? 'exact' : 'default',
    line: one(600, 1_200, 3_000),
    features,
    ...(features === 'all' &&
      below(2) === 0 && { kept: keptOf({ log: days(), facts: days(), checkpoint: days() }) }),
    commands: Array.from({ length: 10 + below(random() < 0.2 ? 150 : 60) }, command),
  }
}

/** Those that take longer come more seldom. */
function storeOf(drawn: number): Program['store'] {
  if (drawn < 0.6) return 'map'
  if (drawn < 0.8) return 'encrypted'
  if (drawn < 0.9) return 'object'
  return drawn < 0.95 ? 'dexie' : 'sqlite'
}

/** Without what has no number of days; at least one has. */
function keptOf(days: { readonly [part: string]: number | undefined }): NonNullable<Program['kept']> {
  const kept = Object.entries(days).filter(([, number]) => number !== undefined)
  return kept.length > 0 ? Object.fromEntries(kept) : { log: 2 }
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
