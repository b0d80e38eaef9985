import type { Context } from '../ports/context.ts'

/**
 * Says in the receipt that its tokens were counted by another provider's vocabulary, unless a
 * provider's reports have put that right.
 *
 * @param isOurs whether a family is one of the renderer's provider.
 */
export function noteFamily(
  { receipt }: Partial<Context>,
  provider: string,
  isOurs: (family: string) => boolean,
): void {
  // What builds a context by hand need not account for it.
  if (receipt?.family === undefined || receipt.calibration !== undefined || isOurs(receipt.family)) return
  const message = `tokens were counted as ${receipt.family} does, and the request is for ${provider}, which may count more: use counterFor, or calibrated`
  receipt.warnings = [{ code: 'counter-family', message }]
}
