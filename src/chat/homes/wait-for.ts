/**
 * Resolves once something is so; looks again whenever one of those that it listens to tells of a
 * change. Ends where the signal aborts, too.
 *
 * @param listen Contract: each calls back at changes, and returns what ends it
 * @throws as `isSo`
 */
export function waitFor(
  isSo: () => boolean | Promise<boolean>,
  listen: readonly ((listener: () => void) => () => void)[],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      for (const stop of stops) stop()
      signal.removeEventListener('abort', leave)
    }
    const leave = (): void => {
      end()
      resolve()
    }
    const look = (): void => {
      Promise.resolve()
        .then(isSo)
        .then(
          (so) => so && leave(),
          (error: unknown) => {
            end()
            reject(error)
          },
        )
    }
    const stops = listen.map((one) => one(look))
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    else look()
  })
}
