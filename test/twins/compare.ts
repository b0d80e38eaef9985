/** What two worlds of one history differ in; what may differ is listed in docs/privacy.md. */
import type { Seen } from './world.ts'

/**
 * Names that are made from content: hashes of 256 bits, in hex or in base64url, and of 64 bits, and
 * tags of fences. And names of logs, which are random.
 */
const MADE =
  /(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{24}|[0-9a-f]{16}|(?<=ctx-)[0-9a-f]{8})(?![0-9a-f])|(?<![\w-])[\w-]{43}(?![\w-])/g

/** The first thing that is not the same; undefined: there is none. */
export function differenceOf(one: readonly Seen[], other: readonly Seen[]): string | undefined {
  const [mine, theirs] = [renamed(one), renamed(other)]
  for (const [index, seen] of mine.entries()) {
    const [is, was] = [JSON.stringify(seen), JSON.stringify(theirs[index])]
    if (is === was) continue
    const at = [...is].findIndex((character, place) => character !== was?.[place])
    const from = Math.max(0, at - 200)
    return `${seen.what} (${index}):\n  ${is.slice(from, at + 200)}\n  ${was?.slice(from, at + 200)}`
  }
  return theirs.length > mine.length ? `more: ${JSON.stringify(theirs[mine.length])}` : undefined
}

/**
 * The same with each made name called by its first appearance, first of all in logs, whose order is
 * that of writing. What stands in the order of such names, rows of tables by their keys too, is put
 * in the order of the new ones.
 */
function renamed(all: readonly Seen[]): readonly Seen[] {
  const names = new Map<string, string>()
  const rename = (text: string): string =>
    text.replace(MADE, (made) => {
      const name = names.get(made) ?? `<${names.size}>`
      names.set(made, name)
      return name
    })
  for (const { what, value } of all) if (what.startsWith('log')) rename(JSON.stringify(value))
  for (const { what, value } of all)
    if (what.startsWith('registers'))
      for (const row of [...(value as { readonly seq: number }[])].sort((a, b) => a.seq - b.seq))
        rename(JSON.stringify(row))
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const inner = jsonIn(value)
      if (inner !== undefined) return walk(inner)
      // A home keeps names behind a tok: they stand in the order of made names, too.
      const [tok, ...names] = value.split(/(?= \[)/)
      const listed = jsonIn(names.join('').trim())
      return listed === undefined ? rename(value) : [rename(tok as string), walk(listed)]
    }
    if (Array.isArray(value)) {
      const inner = deletesInOrder(value.map(walk))
      const isNamed = inner.some((one, index) => JSON.stringify(one) !== JSON.stringify(value[index]))
      const isList = isNamed && value.every((one) => typeof one === 'string')
      return isList ? inner.map((one) => JSON.stringify(one)).sort() : inner
    }
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [rename(key), walk(inner)]))
  }
  return all.map(({ what, value }) => {
    const inner = walk(value)
    if (!/^(registers|rows) /.test(what) || !Array.isArray(inner)) return { what, value: inner }
    return { what, value: inner.map((row) => JSON.stringify(row)).sort() }
  })
}

/** As much of a row of a log, or of a line of an export, as says what is deleted. */
interface Row {
  readonly kind?: string
  readonly type?: string
  readonly id: string
}

/**
 * Rows or lines in which deletes that follow one another name their targets in order: those of one
 * call stand in the order in which a store finds them, which is that of made names.
 */
function deletesInOrder(rows: readonly unknown[]): readonly unknown[] {
  const ordered = [...rows]
  for (let from = 0, to = 0; from < rows.length; from = ++to) {
    while (isDelete(rows[to])) to++
    const ids = rows.slice(from, to).map((row) => (row as Row).id)
    for (const [index, id] of ids.sort().entries())
      ordered[from + index] = { ...(rows[from + index] as Row), id }
  }
  return ordered
}

function isDelete(row: unknown): row is Row {
  const { kind, type } = (row ?? {}) as Partial<Row>
  return kind === 'delete' || type === 'delete'
}

/** What a text of JSON says, lists in it too. */
function jsonIn(text: string): object | undefined {
  if (!/^[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}
