/** What of a configuration both APIs take as it is. */
import type { World } from '../adapter.ts'
import type { Configuration } from '../configuration.ts'
import { field, isObject, type Json, numberIn, plain, textIn } from '../json.ts'

export function hostOf({ host }: World): object {
  const { now, newId, newSecret, timeout, controller, toBase64, fromBase64 } = host
  return { now, newId, newSecret, timeout, controller, toBase64, fromBase64 }
}

export function onCutOf(onCut: NonNullable<Configuration['onCut']>, { tell }: World): unknown {
  return (event: object): void => {
    tell({ type: 'cut', ...toldOf(event) })
    if (onCut === 'throws') throw new Error('the hook failed')
  }
}

/** What an app learns of a cut: of its messages the ids. */
function toldOf(event: object): { readonly [key: string]: Json } {
  const { messages, ...told } = event as { readonly messages: readonly { readonly id: string }[] }
  return { ...(plain(told) as object), messages: messages.map(({ id }) => id) }
}

export function compactionOf(
  { model: isScripted, pins, ...sizes }: NonNullable<Configuration['compaction']>,
  { model }: World,
): object {
  const read = (): unknown => {
    if (pins === 'throws') throw new Error('the pins are out of reach')
    return pins
  }
  return { ...sizes, ...(isScripted && { model }), ...(pins && { pins: read }) }
}

/** @param rules the library's own */
export function extractOf(
  extract: NonNullable<Configuration['extract']>,
  rules: unknown,
  { host }: World,
): unknown {
  if (extract === 'rules') return rules
  if (extract === 'plain') return firstSaid
  if (extract === 'throws')
    return () => {
      throw new Error('the extractor failed')
    }
  return () => {
    Promise.resolve().then(() => host.expire())
    return new Promise(() => {})
  }
}

/** The beginning of what was said, as a finding of no source. */
function firstSaid(
  rounds: readonly (readonly { readonly id: string; readonly content: unknown }[])[],
): unknown {
  const [message] = rounds
    .flat()
    .filter(({ content }) => typeof content === 'string' && content.trim() !== '')
  if (!message) return []
  return [{ id: `said/${message.id}`, kind: 'finding', text: String(message.content).slice(0, 80) }]
}

export function recallOf(
  recall: NonNullable<Configuration['recall']>,
  library: { readonly englishStemmer: object; vectorSearch?(options: object): unknown },
): object {
  if (recall === 'plain') return {}
  if (recall === 'stemmed') return { stemmer: library.englishStemmer }
  const embed = async (texts: readonly string[]) => texts.map(vectorOf)
  // The frozen build takes the function alone.
  return library.vectorSearch ? { vectors: library.vectorSearch({ id: 'vowels', embed }) } : { embed }
}

/** How often each vowel stands in a text. */
function vectorOf(text: string): readonly number[] {
  return [...'aeiou'].map((vowel) => text.split(vowel).length - 1)
}

/**
 * Standard Schema by hand: a checkpoint needs a whole number `n` of 0 or more, and keeps nothing
 * but `n` and `note`.
 */
export const SCHEMA = {
  '~standard': {
    version: 1,
    vendor: 'oracle',
    validate: (value: unknown) => {
      const n = field(value, 'n')
      if (!isObject(value)) return { issues: [{ message: 'must be an object' }] }
      if (!Number.isSafeInteger(n) || numberIn(value, 'n') < 0)
        return { issues: [{ message: 'must be a whole number', path: ['n'] }] }
      return { value: { n, ...('note' in value && { note: textIn(value, 'note') }) } }
    },
  },
}
