import type { Json } from '../ports/message.ts'
import { countIdentifiers } from './identifiers.ts'
import { headOf, tailOf } from './text.ts'

/** Share of a capped output that lists the names which occur only in the part that was cut. */
const NAMES_SHARE = 0.3
/** Below this many tokens an output is only its marker and a little of its text. */
const NAMES_FROM = 120
/** A cut is good enough when it fills this share of what it may. */
const FILLED = 0.95
const ATTEMPTS = 8

/** Longest strings and lists that JSON is shown with, in characters and items, widest first. */
const SHAPES = [
  [2_000, 40],
  [800, 20],
  [400, 12],
  [200, 8],
  [120, 5],
  [60, 3],
  [24, 2],
] as const
/** Larger texts are not parsed to find out whether they are JSON. */
const LARGEST_JSON = 1024 * 1024

/** Stands for the cut part of an output: at most 45 tokens by byte-level tokenizers. */
export function marker(tokens: number, reference: string): string {
  return `[cut from ${tokens} tokens, see ${reference}]`
}

/**
 * Shows an output in at most `max` tokens: its beginning and its end (for JSON: its shape), a
 * marker with its size and a reference to the whole, and the names that occur only in the cut part,
 * most frequent first, for the model to look up. Where no more fits, it is the marker alone; a text
 * that is no longer than its marker stays as it is. Pure.
 *
 * @param tokens what `count(text)` gives, where that is known already.
 */
export function capOutput(
  text: string,
  max: number,
  count: (text: string) => number,
  reference: string,
  tokens = count(text),
): string {
  if (tokens <= max) return text
  const note = marker(tokens, reference)
  const noted = count(note)
  if (tokens <= noted) return text
  const room = max - noted - 2
  if (room <= 0) return note
  const shape = room >= NAMES_FROM ? parsed(text) : undefined
  const named = room >= NAMES_FROM ? Math.floor(room * NAMES_SHARE) : 0
  const shown =
    (shape !== undefined && cutShape(shape, room - named, count)) ||
    cutText(text, room - named, tokens, count)
  const names = named > 0 ? namesIn(text, shown.join('\n'), named, count) : ''
  const [head, tail] = shown
  const result = [head, names ? `${note}\n${names}` : note, tail].filter((piece) => piece !== '').join('\n')
  // Pieces may count for more together than apart, by a token or two; then a little less is shown.
  return count(result) <= max
    ? result
    : capOutput(text, max - Math.max(1, Math.ceil(max / 50)), count, reference, tokens)
}

/** Head and tail of a text, at most `max` tokens, by closing in on the length that fills it. */
export function cutText(
  text: string,
  max: number,
  tokens: number,
  count: (text: string) => number,
): readonly [string, string] {
  let length = Math.floor((text.length * max) / tokens)
  let best: readonly [string, string] = ['', '']
  let bestLength = 0
  let limit = text.length
  for (let attempt = 0; attempt < ATTEMPTS && length > bestLength; attempt++) {
    const half = Math.ceil(length / 2)
    const pieces = [headOf(text, half), tailOf(text, length - half)] as const
    const used = count(pieces[0]) + count(pieces[1])
    if (used <= max) {
      best = pieces
      bestLength = length
      if (used >= max * FILLED) break
      length = Math.min(limit - 1, Math.floor((length * max) / Math.max(1, used)))
    } else {
      limit = length
      length = Math.max(Math.floor((length * max * FILLED) / used), Math.ceil((bestLength + length) / 2) - 1)
    }
  }
  return best
}

function cutShape(
  value: Json,
  max: number,
  count: (text: string) => number,
): readonly [string, string] | undefined {
  for (const [characters, items] of SHAPES) {
    const text = JSON.stringify(pruned(value, characters, items))
    if (text.length <= max * 16 && count(text) <= max) return [text, '']
  }
  return undefined
}

/** The value with long strings and long lists shortened in the middle; keys and nesting stay. */
function pruned(value: Json, characters: number, items: number): Json {
  if (typeof value === 'string') {
    if (value.length <= characters) return value
    const half = Math.ceil(characters / 2)
    return `${headOf(value, half)}…${tailOf(value, characters - half)}`
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list = value as readonly Json[]
    if (list.length <= items) return list.map((item) => pruned(item, characters, items))
    const tail = Math.floor(items / 2)
    const kept = (item: Json): Json => pruned(item, characters, items)
    return [
      ...list.slice(0, items - tail).map(kept),
      `… ${list.length - items} more …`,
      ...list.slice(list.length - tail).map(kept),
    ]
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, pruned(child, characters, items)]),
  )
}

/** The object or list that a text spells in JSON, if it does. */
function parsed(text: string): Json | undefined {
  if (text.length > LARGEST_JSON || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function namesIn(text: string, shown: string, max: number, count: (text: string) => number): string {
  const names = [...countIdentifiers(text)]
    .filter(([name]) => !shown.includes(name))
    .sort((a, b) => b[1] - a[1])
  const prefix = 'names in the cut part:'
  const picked: string[] = []
  let left = max - count(prefix)
  for (const [name] of names) {
    const cost = Math.max(1, count(` ${name}`))
    if (cost > left) continue
    left -= cost
    picked.push(name)
    if (left < 2) break
  }
  return picked.length > 0 ? `${prefix} ${picked.join(' ')}` : ''
}
