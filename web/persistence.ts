import { persist } from '../src/stores/browser.ts'

/**
 * Shows a button that asks the browser to keep what is stored here, until it promised to. Browsers
 * want a gesture for that.
 */
export async function offerPersistence(
  button: HTMLButtonElement,
  answer: (isKept: boolean) => void,
): Promise<void> {
  const { storage } = navigator
  if (!storage?.persisted) return
  button.hidden = await storage.persisted()
  button.addEventListener('click', async () => {
    const isKept = (await persist()) === 'granted'
    button.hidden = isKept
    answer(isKept)
  })
}
