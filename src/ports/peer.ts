import { PlimsollError } from './errors.ts'

/**
 * Refuses an optional peer that is too old. Peers are declared with any range, so that an app keeps
 * the version that it has for itself; what needs a newer one says so when it is used.
 *
 * @param subpath what the app imported, for example `plimsoll/react`
 * @param needed the package and the first version that does, for example `` `react` 18 ``
 * @param fits truthy where it has what only such versions have
 * @param found its version, where it tells one
 * @throws ERR_NOT_CONFIGURED
 */
export function needPeer(subpath: string, needed: string, fits: unknown, found = 'an older one'): void {
  if (!fits)
    throw new PlimsollError('ERR_NOT_CONFIGURED', `${subpath}: needs ${needed} or later, found ${found}`)
}

/** Whether a version such as `3.4.21` is `major.minor` or later. */
export function isSince(version: string | undefined, major: number, minor = 0): boolean {
  const [first = 0, second = 0] = (version ?? '').split('.').map(Number)
  return first > major || (first === major && second >= minor)
}
