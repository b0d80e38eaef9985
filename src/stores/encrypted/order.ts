import type { LogRow } from '../../ports/store.ts'

/** An entry, as far as its order is concerned. */
export type Seen = Pick<LogRow, 'seq' | 'opId'>

/**
 * What a writer says with each text of the entry that it saw last: a text is encrypted before the
 * transaction that gives it its number, so its own is not known.
 */
export interface Claim {
  /** That entry's seq: the text stands behind it. */
  readonly seq: number
  /** Whether the op of that name has that seq; else it only stands somewhere before the text. */
  readonly isExact: boolean
  /** Name of an op, hashed; undefined: none was seen. */
  readonly op: number | undefined
}

const RADIX = 36
const SEQ_LENGTH = 8
const OP_LENGTH = 11
/** Characters of a claim, before the text that makes it. */
export const CLAIM_LENGTH = SEQ_LENGTH + 1 + OP_LENGTH

/**
 * A claim of a text that may change its place, where its scope follows a home: behind what its
 * writer saw it stays, since no device sends the one without the other before it.
 */
export function looseClaimOf(seen: Seen | undefined, before: string | undefined): string {
  return claimOf(undefined, before ?? seen?.opId)
}

/** @param before the op before it in the same commit */
export function claimOf(seen: Seen | undefined, before: string | undefined): string {
  const op = before ?? seen?.opId
  const flag = op === undefined ? ' ' : before === undefined ? '=' : '<'
  const seq = (seen?.seq ?? 0).toString(RADIX).padStart(SEQ_LENGTH, '0')
  return `${seq}${flag}${(op === undefined ? '' : hashed(op).toString(RADIX)).padStart(OP_LENGTH, ' ')}`
}

export function claimIn(text: string): Claim {
  const flag = text[SEQ_LENGTH]
  return {
    seq: Number.parseInt(text.slice(0, SEQ_LENGTH), RADIX),
    isExact: flag === '=',
    op: flag === ' ' ? undefined : Number.parseInt(text.slice(SEQ_LENGTH + 1, CLAIM_LENGTH), RADIX),
  }
}

/**
 * Rows of one read that stand where they were not written: before what their writer saw, or
 * elsewhere than another text says. What was moved beyond the read, only the former can tell.
 *
 * @param isReplica whether a home numbers the rows: then only which stands before which counts
 */
export function misplaced(
  rows: readonly LogRow[],
  claims: ReadonlyMap<LogRow, Claim>,
  isReplica: boolean,
): ReadonlySet<LogRow> {
  const found = new Set<LogRow>()
  const bySeq = new Map<number, number>()
  const byOp = new Map<number, number>()
  let [last, op] = ['', hashed('')]
  for (const { seq, opId } of rows) {
    // Rows of an op follow each other.
    if (opId !== last) [last, op] = [opId, hashed(opId)]
    bySeq.set(seq, op)
    byOp.set(op, seq)
  }
  const wrong = new Set<number>()
  for (const [row, claim] of claims) {
    const { op } = claim
    const { seq, isExact } = isReplica ? { seq: 0, isExact: false } : claim
    if (seq >= row.seq) found.add(row)
    if (op === undefined) continue
    const there = byOp.get(op)
    if (there !== undefined && (isExact ? there !== seq : there >= row.seq)) wrong.add(there)
    if (isExact && (bySeq.get(seq) ?? op) !== op) wrong.add(seq)
  }
  for (const row of claims.keys()) if (wrong.has(row.seq)) found.add(row)
  return found
}

/**
 * 53 bits that name an op: against mistakes, not attacks, since names of ops are authenticated with
 * the texts themselves (cyrb53).
 */
function hashed(op: string): number {
  let [one, other] = [0xdead_beef, 0x41c6_ce57]
  for (let at = 0; at < op.length; at++) {
    const unit = op.charCodeAt(at)
    one = Math.imul(one ^ unit, 2_654_435_761)
    other = Math.imul(other ^ unit, 1_597_334_677)
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909)
  other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909)
  return 4_294_967_296 * (2_097_151 & other) + (one >>> 0)
}
