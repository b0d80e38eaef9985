import type { Context, Receipt, SectionUse } from '../../ports/context.ts'
import type { Call, Calls } from './call.ts'
import type { Covering } from './covering.ts'
import type { Epoch } from './epoch.ts'
import type { Failure } from './failure.ts'
import { headKey } from './head.ts'
import type { Policy } from '../policy.ts'
import type { Prefix } from './prefix.ts'
import { createReceipt, floorOf, leftOut } from './receipt.ts'
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
  /** What the tail shows of features. */
  readonly uses: readonly SectionUse[]
  readonly failures: readonly Failure[]
  readonly unwritten?: 'preview' | 'unsaved' | undefined
}

/** The context of a call in an epoch, with the account of it. */
export async function contextOf(
  { policy, calls, prefix }: { readonly policy: Policy; readonly calls: Calls; readonly prefix: Prefix },
  { slice, call, epoch, window, covering, uses, failures, unwritten }: Made,
): Promise<Context> {
  const { mark, place } = epoch
  const { head, measure } = call
  const { conversation, rows } = slice
  const { calibration } = measure
  const closing = calls.tail(call, window, place)
  const tail = closing ? [...window.waiting, closing] : window.waiting
  const blocks = [...head.blocks, ...window.blocks, ...tail]
  const { floor } = floorOf(policy, head, {
    ...measure.layout(conversation).floor(),
    tail: closing?.tokens ?? 0,
  })
  const { omitted, covers } = leftOut(await slice.before(covering), { conversation, rows }, window, covering)
  const shown = Object.values(head.parts ?? {}).flatMap((part) => part.uses)
  const receipt: Receipt = createReceipt(policy, head, blocks, measure.shelf, {
    omitted,
    ...(covering && { summary: useOf(covering, covers) }),
    remembered: [...shown, ...uses],
    epoch: unwritten ?? { id: mark.id, cause: mark.cause, place },
    ...(calibration !== 1 && { calibration }),
    failures,
    floor,
    room: call.room,
  })
  return {
    lane: policy.lane,
    epoch: mark.id,
    head: headKey(head.hash),
    fence: calls.fence(place),
    blocks,
    ...(head.toolSpecs && { tools: head.toolSpecs }),
    receipt,
    hash: prefix.hash(head.hash, window.blocks, tail),
  }
}

function useOf({ mark, place }: Covering, covers: NonNullable<Receipt['summary']>['covers']) {
  const { id, trust, by, lost } = mark
  return { id, place, covers, trust, by, lost }
}
