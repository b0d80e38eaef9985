/**
 * What of a result has to be the same in two builds, in three views:
 *
 * - `behaviour`: what callers see: texts of blocks, rules, tokens, receipts without hashes, codes
 *   of errors;
 * - `rows`: what is stored, without heads and without what hashes say;
 * - `names`: all of it, heads too, each made name in the order of its first appearance: so whether
 *   two of them are one.
 */
import { isRecall } from './commands.ts'
import { field, isObject, type Json, type JsonObject, listIn, textIn } from './json.ts'
import { Names, type Treatment } from './names.ts'
import type { Outcome, Result, Step } from './play.ts'

export const PROJECTIONS = ['behaviour', 'rows', 'names'] as const

export type Projection = (typeof PROJECTIONS)[number]

/** Decides over one field of an object: whether it is left out. */
type LeftOut = (name: string, owner: JsonObject) => boolean

/** One value for each step. */
export function project(result: Result, projection: Projection, isSameLane: boolean): readonly Json[] {
  const treatment = treatmentOf(projection, isSameLane)
  const names = new Names(treatment)
  const leftOut = LEFT_OUT[projection]
  const of = ({ command, outcome, events, raced }: Step): Json => {
    const isStored = command.kind === 'rows' || (command.kind === 'export' && command.format !== 'markdown')
    if (projection === 'rows' && !isStored) return null
    // It finds other passages, as is wanted: their names would shift all that follow.
    if (projection === 'names' && isRecall(command)) return null
    if (projection === 'behaviour' && isStored) return countsOf(outcome)
    const given = command.kind === 'export' ? joined(outcome) : outcome
    const came = (isStored ? stored(outcome, projection === 'names') : given) as unknown as Json
    return walk(
      {
        outcome: withoutRecords(came),
        events,
        raced: (raced ?? []).map(of),
      },
      // What recall shows here and not there must not shift the names that follow, nor a tail that
      // a past context has in one build alone.
      isRecall(command) || command.kind === 'contextAt' ? new Names(treatment, names) : names,
      leftOut,
    )
  }
  return result.steps.map(of)
}

/**
 * As it is, without what differs as is wanted, in names and in places, until the frozen build is a
 * newer one: "Each record of the audit has a register of its own".
 */
function withoutRecords(value: Json): Json {
  // A row, or the index that lists them.
  const isRecord = (one: Json): boolean =>
    ['key', 'id', 'group'].some((name) => /^audit(?:\/|$)/.test(String(field(one, name))))
  if (Array.isArray(value)) return value.filter((one) => !isRecord(one)).map(withoutRecords)
  if (!isObject(value)) return value
  const isListed = 'action' in value && 'at' in value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isListed && name === 'id' ? [] : [[name, withoutRecords(inner as Json)]],
    ),
  )
}

/** The lanes of a result, in their order: only where they are the same, fences are. */
export function lanesOf({ steps }: Result): readonly string[] {
  return [...JSON.stringify(steps).matchAll(/"lane":"([0-9a-f]{16})"/g)].map(([, lane = '']) => lane)
}

function treatmentOf(projection: Projection, isSameLane: boolean): Treatment {
  const fence = isSameLane ? 'leave' : 'name'
  if (projection === 'names') return { fence: 'name', call: 'name', hash: 'name', id: 'name' }
  return { fence, call: 'name', hash: projection === 'rows' ? 'hide' : 'name', id: 'name' }
}

const HASHES: ReadonlySet<string> = new Set(['hash', 'head', 'epoch', 'lane', 'fence'])

const LEFT_OUT: { readonly [projection in Projection]: LeftOut } = {
  behaviour: (name, owner) => {
    if ('blocks' in owner && 'receipt' in owner) return HASHES.has(name)
    // Of an epoch and of a summary in a receipt, of a cut, of a session's start.
    if (name === 'id') return ('cause' in owner && 'place' in owner) || 'covers' in owner
    return (name === 'epoch' && owner.type === 'cut') || name === 'etag'
  },
  rows: (name, owner) =>
    owner.type === 'epoch'
      ? ['id', 'head', 'prefixHash'].includes(name)
      : owner.kind === 'epoch' && name === 'id',
  names: () => false,
}

function walk(value: Json, names: Names, leftOut: LeftOut): Json {
  if (typeof value === 'string') return names.in(value)
  if (Array.isArray(value)) return withHeadsInOrder(value, names).map((one) => walk(one, names, leftOut))
  if (!isObject(value)) return value
  const kept = Object.keys(value)
    .filter((name) => !leftOut(name, value))
    .sort()
  return Object.fromEntries(
    kept.map((name) => {
      const inner = value[name] as Json
      return [names.in(name), SETS.has(name) ? inOrder(inner, names) : walk(inner, names, leftOut)]
    }),
  )
}

/** Rows of heads that were removed together: they stand in the order of their hashes. */
function withHeadsInOrder(rows: readonly Json[], names: Names): readonly Json[] {
  const isHead = (row: Json | undefined): boolean =>
    [field(row, 'kind'), field(row, 'type')].includes('delete') && textIn(row, 'id').startsWith('head/')
  const found = [...rows]
  for (let from = 0; from < rows.length; from++) {
    let to = from
    while (isHead(rows[to])) to++
    const ids = rows.slice(from, to).map((row) => names.inSet(textIn(row, 'id')))
    for (const [index, id] of ids.sort().entries())
      found[from + index] = { ...(rows[from + index] as JsonObject), id }
    from = Math.max(from, to - 1)
  }
  return found
}

/** What of a certificate stands in the order of hashes, and hashes that a row records. */
const SETS: ReadonlySet<string> = new Set(['heads', 'summaries', 'contexts'])

function inOrder(value: Json, names: Names): Json {
  // Those that one build alone records must not shift the names that follow.
  if (Array.isArray(value)) return value.map((one) => names.inSet(String(one)))
  if (!isObject(value)) return value
  return {
    ...value,
    first: listIn(value, 'first')
      .map((one) => names.inSet(String(one)))
      .sort(),
  }
}

/** What was stored, and what was exported: lines as the JSON that they are. */
function stored(outcome: Outcome, withHeads: boolean): unknown {
  if (!('ok' in outcome)) return outcome
  const isHead = (row: Json): boolean => textIn(row, 'key').startsWith('head/')
  const scope = (one: Json): Json => ({
    ...(one as JsonObject),
    registers: listIn(one, 'registers').filter((row) => withHeads || !isHead(row)),
  })
  // Lines of an export, where heads stand in the order of their hashes; or the scopes of each
  // store.
  const lines = listIn(outcome.ok).flatMap((one) =>
    typeof one === 'string' ? (JSON.parse(one) as Json) : [],
  )
  const stores = listIn(outcome.ok).filter((one) => typeof one !== 'string')
  return {
    ok: [...lines.filter((line) => !isHead(line)), ...stores.map((store) => listIn(store).map(scope))],
  }
}

/** Markdown as one text: into which pieces it falls is seen by nobody who reads it. */
function joined(outcome: Outcome): unknown {
  return 'ok' in outcome ? { ok: listIn(outcome.ok).join('') } : outcome
}

/** How much was exported, by type. */
function countsOf(outcome: Outcome): Json {
  if (!('ok' in outcome)) return outcome as unknown as Json
  const counts: { [type: string]: number } = {}
  for (const line of listIn(outcome.ok)) {
    if (typeof line !== 'string') continue
    const read = JSON.parse(line) as Json
    const type = textIn(read, 'type')
    counts[type] = (counts[type] ?? 0) + 1
  }
  return counts
}
