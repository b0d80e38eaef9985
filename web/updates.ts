import { Workbox } from 'workbox-window'

const SCRIPT = 'sw.js'

/** What the page does about its own versions. */
export interface Updates {
  /** A newer version waits; call to have it take over, in all tabs. */
  readonly ready: (takeOver: () => void) => void
  /** All of the page is stored: it opens without a network from now on. */
  readonly offline: () => void
}

/**
 * Stores the page for use without a network, by a service worker, and tells of newer versions: none
 * takes over unasked, since it would take the page away from under what is being typed.
 */
export async function watchUpdates({ ready, offline }: Updates): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  const workbox = new Workbox(trustedScript(SCRIPT))
  workbox.addEventListener('waiting', () =>
    ready(() => {
      workbox.addEventListener('controlling', () => location.reload())
      workbox.messageSkipWaiting()
    }),
  )
  workbox.addEventListener('activated', ({ isUpdate }) => {
    if (!isUpdate) offline()
  })
  await workbox.register()
  // A page that stays open for days asks too.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') workbox.update().catch(() => {})
  })
}

/** The page's policy lets no string be a script, but for this one. */
function trustedScript(url: string): string | TrustedScriptURL {
  const policy = window.trustedTypes?.createPolicy('plimsoll-page', {
    createScriptURL(asked) {
      if (asked === SCRIPT) return asked
      throw new TypeError(`no script of this page: ${asked}`)
    },
  })
  return policy?.createScriptURL(url) ?? url
}
