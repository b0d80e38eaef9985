const SESSION = 'session'

/**
 * The session that the address names, as `#session=…`: in the fragment, which goes to no server.
 */
export function linkedSession(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get(SESSION) ?? undefined
}

/** Names it there, so that a reload, a bookmark and the way back show it again. */
export function linkTo(sessionId: string): void {
  if (linkedSession() === sessionId) return
  const hash = `#${new URLSearchParams({ [SESSION]: sessionId })}`
  // The first one replaces an address that named none.
  if (linkedSession() === undefined) history.replaceState(null, '', hash)
  else history.pushState(null, '', hash)
}

export function onLink(follow: (sessionId: string | undefined) => void): void {
  addEventListener('popstate', () => follow(linkedSession()))
}
