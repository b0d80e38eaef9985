// Says what a session of the browser's protocol can be asked.
import type {} from '@vitest/browser-playwright'
import { cdp } from 'vitest/browser'

/** Has the browser draw in the few colours that somebody has chosen, or in the page's again. */
export async function forceColours(isForced: boolean): Promise<void> {
  const value = isForced ? 'active' : 'none'
  await cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] })
}
