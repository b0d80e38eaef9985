import * as ai from 'ai'
import type { Omitted, Receipt, SummaryUse } from '../../ports/context.ts'
import type { Session } from '../../ports/memory.ts'
import { checkObject } from '../../ports/options.ts'
import { type AskedOptions, askedOf, checkCache } from './asked.ts'
import { asOlder, type LoopRequest } from './older.ts'
import { isOlder } from './peer.ts'
import { toAISDK } from './to-ai-sdk.ts'
import { toToolSpecs } from './tools.ts'

/**
 * What a compaction asks of contexts; give it what the loop is given, so that both are one lane.
 */
export interface CompactOptions extends AskedOptions {
  /** Whether to set Anthropic's cache breakpoints, at most four. Default `false`. */
  readonly cache?: boolean
}

/**
 * What {@link compact} gives: a request as {@link toAISDK} makes it, and the account of what became
 * of the rest.
 */
export interface Compacted extends LoopRequest {
  /** Tokens of the request as it would have been, and as it is. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /**
   * What stands for older messages: which ones, who wrote it, and `lost`, the names in them that it
   * does not hold. Absent where nothing does, for example without `compaction()`.
   */
  readonly summary?: SummaryUse
  /** The messages that are not shown, and why. They are in the log as they were. */
  readonly omitted: readonly Omitted[]
  readonly receipt: Receipt
}

/**
 * Compacts a conversation now: cuts the window back to what the memory's `window.keep` says, else
 * to half of the room, and, with `compaction()` in its `use`, writes a summary of what left it.
 * What is no larger than that stays as it is. Nothing is deleted: the log keeps every message, and
 * a summary that the memory does not accept replaces nothing. Calls from here on go on from the
 * request that it gives. To compact inside of a loop, see `compactWhen`.
 *
 * @throws as `session.context()`: ERR_TOOL_PENDING where calls wait for a result;
 * ERR_NOT_CONFIGURED: an `ai` before 5
 * @example
 * ```ts
 * import { compact } from 'plimsoll/ai-sdk'
 *
 * const { tokensBefore, tokensAfter, summary } = await compact(session, { tools })
 * ```
 */
export async function compact(session: Session, given: CompactOptions = {}): Promise<Compacted> {
  const older = isOlder(ai)
  checkObject('compact', 'options', given)
  const { cache = false, ...options } = given
  checkCache('compact', cache)
  const asked = {
    ...askedOf('compact', session, options),
    tools: await toToolSpecs(options.tools),
  }
  const before = await session.context({ ...asked, preview: true })
  const context = await session.context({ ...asked, newEpoch: true })
  const request = toAISDK(context, { cache })
  const { receipt } = context
  return {
    ...(older ? asOlder(request) : request),
    tokensBefore: before.receipt.used,
    tokensAfter: receipt.used,
    ...(receipt.summary && { summary: receipt.summary }),
    omitted: receipt.omitted,
    receipt,
  }
}
