import type { Context, Receipt, SectionUse } from '../../ports/context.ts'
import { defined } from '../../ports/defined.ts'
import type { Cover, Covering } from '../cover.ts'
import type { Policy } from '../policy.ts'
import type { Calls } from './call.ts'
import { exceededBy } from './cut.ts'
import type { Epoch } from './epoch.ts'
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
  readonly epoch: Epoch
  readonly window: Window
  /** What stands for messages that do not show. */
  readonly covering: Covering | undefined
  readonly failures: readonly Failure[]
  readonly unwritten?: 'preview' | 'unsaved' | undefined
}

/** The hash of a context but for what its tail says of this call alone. */
export function hashOf(
  { calls, prefix }: Makers,
  { call, epoch, window }: Pick<Made, 'call' | 'epoch' | 'window'>,
): string {
  const closing = calls.tail({ measure: call.measure, tail: [] }, window, epoch.place)
  return prefix.hash(call.head.hash, window.blocks, closing ? [...window.waiting, closing] : window.waiting)
}

interface Makers {
  readonly policy: Policy
  readonly calls: Calls
  readonly prefix: Prefix
  readonly cover: Pick<Cover, 'account'> | undefined
}

/** The context of a call in an epoch, with the account of it. */
export async function contextOf({ policy, calls, prefix, cover }: Makers, made: Made): Promise<Context> {
  const { slice, call, epoch, window, covering, failures, unwritten } = made
  const { mark, place } = epoch
  const { head, measure } = call
  const { lane, cap, reserved, margin, isOpen } = policy
  const closing = calls.tail(call, window, place)
  const tail = closing ? [...window.waiting, closing] : window.waiting
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
  return defined({
    lane,
    epoch: mark.id,
    head: headKey(head.hash),
    fence: calls.fence(place),
    blocks,
    tools: head.toolSpecs,
    receipt,
    hash: prefix.hash(head.hash, window.blocks, tail),
  })
}
