/** Chromium's event before it would offer to install a page. */
interface BeforeInstallPromptEvent extends Event {
  prompt(): Promise<unknown>
}

/**
 * Shows a button as long as the browser can install the page; elsewhere it stays hidden, and the
 * browser's own menu has it.
 */
export function offerInstall(button: HTMLButtonElement): void {
  let offer: BeforeInstallPromptEvent | undefined
  const show = (): void => {
    button.hidden = !offer
  }
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    offer = event as BeforeInstallPromptEvent
    show()
  })
  addEventListener('appinstalled', () => {
    offer = undefined
    show()
  })
  button.addEventListener('click', async () => {
    const asked = offer
    // It can be asked once.
    offer = undefined
    await asked?.prompt()
    show()
  })
}
