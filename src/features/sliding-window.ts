import type { WindowSize } from '../ports/session.ts'
import { checkOptions, invalid } from '../text/json.ts'

/**
 * Options of `createMemory` for a plain sliding window: so many complete exchanges and the new
 * message, whatever they take. There is no budget, so `receipt.cap` is `null`; give one beside it
 * where the model's own limit may be near.
 *
 * @param size `rounds`, `messages` or `tokens`. Default: 20 rounds
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 * @example
 * ```ts
 * import { addExchange, createMemory, mapStore, slidingWindow } from 'plimsoll'
 *
 * const memory = createMemory({ store: mapStore(), ...slidingWindow() })
 * const session = memory.session({ userId: 'ada' })
 * const shown = await addExchange(session, 'Is there a restaurant car?', 'Yes, behind coach 7.')
 * ```
 */
export function slidingWindow(size: WindowSize = { rounds: 20 }): { readonly window: WindowSize } {
  checkOptions('slidingWindow', 'size', size, ['rounds', 'messages', 'tokens'])
  if (Object.keys(size).length !== 1)
    throw invalid('slidingWindow', 'size', 'must be one of rounds, messages and tokens')
  return { window: size }
}
