/**
 * Rows and lines of storage format 2 as 0.1.0 spelled them, so that two builds can be compared:
 * names without their space, and ops that are one with their entry under an id of their own.
 */
import { field, isObject, type Json, type JsonObject, listIn, textIn } from '../json.ts'

/** Fields of rows that 0.1.0 did not have. */
const NEW = ['contexts']

/** A row of the log, a register, or a line of an export. */
export function secondRow(row: JsonObject): JsonObject {
  const kind = textIn(row, 'kind') || textIn(row, 'type')
  const kept = Object.fromEntries(Object.entries(row).filter(([name]) => !NEW.includes(name)))
  return {
    ...kept,
    ...(typeof row.opId === 'string' && { opId: opIdOf(kind, row.opId) }),
    ...(kind === 'delete' && { id: bare(textIn(row, 'id')) }),
    ...(row.sources !== undefined && { sources: listIn(row, 'sources').map(bare) }),
    ...(kind === 'export' && { v: 1 }),
  }
}

/** What features keep of facts in a head names them by their space. */
export function secondParts(parts: Json): Json {
  if (!isObject(parts)) return parts
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => {
      const { record, sources } = part as JsonObject
      const facts = field(record, 'facts')
      return [
        name,
        {
          ...(part as JsonObject),
          ...(sources !== undefined && { sources: listIn(part, 'sources').map(bare) }),
          ...(Array.isArray(facts) && {
            record: {
              ...(record as JsonObject),
              facts: facts.map((fact) => {
                const [one, hash] = fact as readonly string[]
                return [one?.replace(/^register:/, 'session:') ?? '', hash ?? '']
              }),
            },
          }),
        },
      ]
    }),
  )
}

/** A name without its space; those of the user's scope had it before. */
function bare(name: Json): string {
  return String(name).replace(/^(entry|register|attachment):/, '')
}

function opIdOf(kind: string, opId: string): string {
  if (!opId.startsWith('entry:')) return opId
  const id = bare(opId)
  if (kind !== 'message') return id
  // What the library named, it named twice.
  const made = /^id-(\d{6})$/.exec(id)?.[1]
  return made === undefined ? `append/${digest(id)}` : `id-${900_000 + Number(made)}`
}

/** Looks like a hash, and is another one for another text. */
function digest(text: string): string {
  const word = (seed: number): string => {
    let sum = 2_166_136_261 ^ seed
    for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 16_777_619)
    return (sum >>> 0).toString(16).padStart(8, '0')
  }
  return Array.from({ length: 8 }, (_, seed) => word(seed * 7_919)).join('')
}
