/**
 * Conversations that were edited or answered again are trees; a log tells their versions one after
 * the other.
 */

/** A message, and the one that it follows. */
export interface Branch {
  readonly id: string
  /** Undefined: it follows none. */
  readonly parent: string | undefined
  readonly value: unknown
  /** Whether what shows ends with it. At most one does. */
  readonly isNewest: boolean
}

/** A message in the order of a log. */
export interface Told {
  readonly value: unknown
  /** How many messages stand before it in its own version. */
  readonly depth: number
}

/**
 * All messages of a tree, so that each follows those before it in its own version, and what shows
 * comes last: older versions in their order, each whole before the next. A conversation that only
 * grew at its end is told the same up to there. Messages that follow themselves begin a version
 * with the first of them; where they show, so that what shows is whole.
 */
export function told(branches: readonly Branch[]): readonly Told[] {
  const byId = new Map(branches.map((branch) => [branch.id, branch]))
  const firsts = new Set<Branch>()
  const parentOf = (branch: Branch): Branch | undefined =>
    firsts.has(branch) ? undefined : byId.get(branch.parent ?? '')
  const walked = new Set<Branch>()
  const walk = (from: Branch | undefined): ReadonlySet<Branch> => {
    const path = new Set<Branch>()
    for (let next = from; next && !walked.has(next); next = parentOf(next)) {
      walked.add(next)
      path.add(next)
      if (path.has(parentOf(next) as Branch)) firsts.add(next)
    }
    return path
  }
  const shown = walk(branches.find(({ isNewest }) => isNewest))
  // From the end, so that of those that follow themselves the first has the others after it.
  for (const branch of branches.toReversed()) walk(branch)
  const versions = new Map<Branch | undefined, Branch[]>()
  for (const branch of branches) {
    const parent = parentOf(branch)
    const after = versions.get(parent)
    if (after) after.push(branch)
    else versions.set(parent, [branch])
  }
  const order: Told[] = []
  // A stack, since a conversation may be longer than functions may call each other.
  const rest: { readonly branch: Branch; readonly depth: number }[] = []
  const follow = (parent: Branch | undefined, depth: number): void => {
    const after = versions.get(parent) ?? []
    const last = after.find((branch) => shown.has(branch)) ?? after.at(-1)
    for (const branch of [...after.filter((one) => one !== last), last].reverse())
      if (branch) rest.push({ branch, depth })
  }
  follow(undefined, 0)
  for (let next = rest.pop(); next; next = rest.pop()) {
    order.push({ value: next.branch.value, depth: next.depth })
    follow(next.branch, next.depth + 1)
  }
  return order
}
