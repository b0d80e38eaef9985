/**
 * What an epoch froze, as 0.1.0 spelled it, so that two builds can be compared: without hashes of
 * what it was made from, since each build hashes its own spelling.
 */
import { field, isObject, type Json, type JsonObject, listIn, numberIn, textIn } from '../json.ts'
import { secondParts } from './format.ts'

export function firstHead(row: JsonObject): JsonObject {
  const remembered = field(row.body, 'remembered')
  if (!isObject(remembered)) return row
  const { documents: _, ...rest } = remembered
  return { ...row, body: { ...(row.body as JsonObject), remembered: rest } }
}

/** Each feature has a part of its own. */
export function secondHead({ sources, ...row }: JsonObject): JsonObject {
  const { parts: spelled, ...texts } = (isObject(row.body) ? row.body : {}) as JsonObject
  const parts = secondParts(spelled ?? null)
  const own = sources === undefined ? {} : ownOf(listIn(sources), row.body, parts)
  if (!isObject(parts)) return { ...row, ...own }
  return { ...row, ...own, body: { ...texts, remembered: rememberedIn(Object.values(parts)) } }
}

function rememberedIn(parts: readonly Json[]): Json {
  const sections = parts
    .flatMap((part) => listIn(part, 'sections'))
    .sort((one, other) => numberIn(one, 'at') - numberIn(other, 'at'))
  const [system = [], memory = []] = ['system', 'memory'].map((place) =>
    sections.filter((section) => field(section, 'in') === place),
  )
  const { project, facts = [], asOf = NOTHING_KNOWN } = factsIn(parts)
  const sources = parts.flatMap((part) => listIn(part, 'sources'))
  return {
    system: system.flatMap((section) => textIn(section, 'text') || []).join('\n\n'),
    memory: memory.flatMap((section) => {
      const { in: _, at: __, use: ___, ...shown } = section as JsonObject
      return shown.text === '' ? [] : shown
    }),
    ...(project !== undefined && { project }),
    facts,
    sources: withoutShared(sources, facts),
    asOf,
    uses: [...system, ...memory].flatMap((section) => field(section, 'use') ?? []),
  }
}

const NOTHING_KNOWN: Json = { user: 0, session: 0 }

/** What is kept of the facts that show; it is the only record that is no hash. */
function factsIn(parts: readonly Json[]): JsonObject {
  return (parts.map((part) => field(part, 'record')).find(isObject) ?? {}) as JsonObject
}

/** A row names what its body derives from. Once that is forgotten, only the names are left. */
function ownOf(sources: readonly Json[], body: Json | undefined, parts: Json): JsonObject {
  const { facts = [] } = factsIn(Object.values(isObject(parts) ? parts : {}))
  const own = body === null ? sources.filter((one) => !isShared(one)) : withoutShared(sources, facts)
  return own.length === 0 ? {} : { sources: own }
}

/**
 * Sources without the shared facts, which 0.1.0 did not name; all of them, where they are not those
 * that show.
 */
function withoutShared(sources: readonly Json[], facts: Json): readonly Json[] {
  const shown = listIn(facts)
    .flatMap((fact) => listIn(fact).slice(0, 1))
    .filter(isShared)
  const isWhole = JSON.stringify(sources.filter(isShared)) === JSON.stringify(shown)
  return isWhole ? sources.filter((one) => !isShared(one)) : sources
}

function isShared(source: Json): boolean {
  return String(source).startsWith('user:')
}
