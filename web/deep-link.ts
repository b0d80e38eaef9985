const SESSION = 'session'

/**
 * The session that the address names, as `#session=…`: in the fragment, which goes to no server.
 */
export function linkedSession(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get(SESSION) ?? undefined
}

/** Names it there, so that a reload, a bookmark and the way back show it again; or names none. */
export function linkTo(sessionId: string | undefined): void {
  if (linkedSession() === sessionId) return
  const hash = sessionId === undefined ? '' : `#${new URLSearchParams({ [SESSION]: sessionId })}`
  // One that named none is replaced, and so is one that names what nobody can open any more.
  if (linkedSession() === undefined || hash === '') history.replaceState(null, '', hash || location.pathname)
  else history.pushState(null, '', hash)
}

export function onLink(follow: (sessionId: string | undefined) => void): void {
  addEventListener('popstate', () => follow(linkedSession()))
}
