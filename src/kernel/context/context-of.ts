import type { Block, Context, Receipt, SectionUse } from '../../ports/context.ts'
import { defined } from '../../ports/defined.ts'
import type { EpochMark } from '../../ports/op.ts'
import type { Cover, Covering } from '../cover.ts'
import type { Policy } from '../policy.ts'
import type { Calls } from './call.ts'
import { exceededBy } from './cut.ts'
import type { Failure } from './failure.ts'
import { headKey, sectionsIn } from './head.ts'
import type { Call } from './measure.ts'
import type { Prefix } from './prefix.ts'
import { floorOf, leftOut, sectionUses } from './receipt.ts'
import type { Slice } from './view.ts'
import type { Window } from './window.ts'

/** What a context is made of. */
export interface Made {
  readonly slice: Slice
  readonly call: Call
  readonly mark: EpochMark
  readonly window: Window
  /** What stands for messages that do not show. */
  readonly covering: Covering | undefined
  readonly failures: readonly Failure[]
  readonly unwritten?: 'preview' | 'unsaved' | undefined
}

/** A context, and its hash but for what its tail says of this call alone. */
interface Handed {
  readonly context: Context
  readonly hash: string
}

interface Makers {
  readonly policy: Policy
  readonly calls: Calls
  readonly prefix: Prefix
  readonly cover: Pick<Cover, 'account'> | undefined
}

/** The context of a call in an epoch, with the account of it. */
export async function contextOf({ policy, calls, prefix, cover }: Makers, made: Made): Promise<Handed> {
  const { slice, call, mark, window, covering, failures, unwritten } = made
  const { head, measure, place } = call
  const { lane, cap, reserved, margin, isOpen } = policy
  const closing = calls.tail(call, window)
  const ending = (last: Block | undefined) => (last ? [...window.waiting, last] : window.waiting)
  const hashOf = (tail: readonly Block[]): string => prefix.hash(head.hash, window.blocks, tail)
  const tail = ending(closing)
  const blocks = head.blocks.concat(window.blocks, tail)
  const tokens = { ...measure.layout(slice.conversation).floor(), tail: closing?.tokens ?? 0 }
  const account = covering && cover?.account(covering, window, slice.rows)
  const before = await slice.before()
  const gaps = account ? await account.part(before) : before
  const { omitted, covers } = leftOut(gaps, slice, window, account?.covers ?? (() => false))
  const sections = sectionUses(head, blocks, call.room, measure.shelf)
  const exceeded = exceededBy(policy, slice.conversation.units, window)
  const used = sections.reduce((sum, section) => sum + section.tokens, head.tokens.framing)
  const { parts = {} } = head
  const uses = [...sectionsIn(parts), ...call.tail].flatMap(({ use }): SectionUse[] => (use ? [use] : []))
  const receipt: Receipt = defined({
    cap: isOpen ? null : cap,
    reserved,
    margin,
    used,
    // A short user message can cost less than the opening that the floor counts.
    floor: Math.min(floorOf(policy, head, tokens).floor, used + margin),
    sections,
    remembered: uses.length > 0 ? uses : undefined,
    omitted,
    exceeded,
    summary: account?.use(covers),
    epoch: unwritten ?? { id: mark.id, cause: mark.cause, place },
    family: policy.counter.family,
    calibration: measure.calibration === 1 ? undefined : measure.calibration,
    failures: [...Object.values(parts).flatMap(({ failures = [] }) => failures), ...failures],
  })
  const context: Context = defined({
    lane,
    epoch: mark.id,
    head: headKey(head.hash),
    fence: calls.fence(place),
    blocks,
    tools: head.toolSpecs,
    receipt,
    hash: hashOf(tail),
  })
  const isPlain = call.tail.length === 0
  return { context, hash: isPlain ? context.hash : hashOf(ending(calls.tail({ ...call, tail: [] }, window))) }
}
