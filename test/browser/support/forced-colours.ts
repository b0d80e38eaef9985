// Says what a session of the browser's protocol can be asked.
import type {} from '@vitest/browser-playwright'
import { cdp, server } from 'vitest/browser'

/** Whether the browser can be asked for that. */
export const canForceColours = server.browser !== 'firefox'

/** Has the browser draw in the few colours that somebody has chosen, or in the page's again. */
export async function forceColours(isForced: boolean): Promise<void> {
  if (!canForceColours && !isForced) return
  const value = isForced ? 'active' : 'none'
  await cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] })
}
