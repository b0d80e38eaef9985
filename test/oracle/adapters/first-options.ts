/** A configuration as options of 0.1.0. */
import type { World } from '../adapter.ts'
import type { Configuration, CounterJson } from '../configuration.ts'
import { field, isObject, type Json, numberIn, plain, textIn } from '../json.ts'
import type { CounterLike, FirstLibrary } from './first-library.ts'

export function counterOf(library: FirstLibrary, counter: CounterJson): CounterLike {
  switch (counter.type) {
    case 'default':
      return library.defaultCounter
    case 'utf8':
      return library.utf8Bound
    case 'chars':
      return library.charsPerToken(counter.chars)
    case 'calibrated':
      return library.calibrated(counter.of === 'chars' ? library.charsPerToken(4) : library.defaultCounter)
  }
}

/** Options of a memory, its store and counter aside. */
export function optionsOf(library: FirstLibrary, configuration: Configuration, world: World): object {
  const { host, model, tell } = world
  const { counter: _, compaction, extract, recall, checkpoint, onCut, ...rest } = configuration
  const cut = (event: object): void => {
    tell({ type: 'cut', ...toldOf(event) })
    if (onCut === 'throws') throw new Error('the hook failed')
  }
  return {
    ...rest,
    host: {
      now: host.now,
      newId: host.newId,
      timeout: host.timeout,
      controller: host.controller,
      toBase64: host.toBase64,
      fromBase64: host.fromBase64,
    },
    onDemand: async () => library.onDemand,
    ...(onCut && { onCut: cut }),
    ...(compaction && { compaction: compactionOf(compaction, model) }),
    ...(extract && { extract: extractOf(extract, library, world) }),
    ...(recall && { recall: recallOf(recall, library) }),
    ...(checkpoint && {
      checkpoint: {
        ...(checkpoint.schema && { schema: SCHEMA }),
        ...(checkpoint.default !== undefined && { defaultState: checkpoint.default }),
      },
    }),
  }
}

/** What an app is told of a cut: of its messages the ids. */
function toldOf(event: object): { readonly [key: string]: Json } {
  const { messages, ...told } = event as { readonly messages: readonly { readonly id: string }[] }
  return { ...(plain(told) as object), messages: messages.map(({ id }) => id) }
}

function compactionOf(
  { model: isScripted, pins, ...sizes }: NonNullable<Configuration['compaction']>,
  model: World['model'],
): object {
  const read = (): unknown => {
    if (pins === 'throws') throw new Error('the pins are out of reach')
    return pins
  }
  return { ...sizes, ...(isScripted && { model }), ...(pins && { pins: read }) }
}

function extractOf(
  extract: NonNullable<Configuration['extract']>,
  library: FirstLibrary,
  { host }: World,
): unknown {
  if (extract === 'rules') return library.extractFacts
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

function recallOf(recall: NonNullable<Configuration['recall']>, library: FirstLibrary): object {
  if (recall === 'plain') return library.lexicalRecall()
  if (recall === 'stemmed') return library.lexicalRecall({ stemmer: library.englishStemmer })
  return library.lexicalRecall({ embed: async (texts: readonly string[]) => texts.map(vectorOf) })
}

/** How often each vowel stands in a text. */
function vectorOf(text: string): readonly number[] {
  return [...'aeiou'].map((vowel) => text.split(vowel).length - 1)
}

/**
 * Standard Schema by hand: a checkpoint needs a whole number `n` of 0 or more, and keeps nothing
 * but `n` and `note`.
 */
const SCHEMA = {
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
