/** Versions as entity tags (RFC 9110, section 8.8.3): version `v` travels as `"v"`. */

/** Runs of what a tag cannot hold as it is, and the sign that opens an escape. */
const ESCAPED = /[^!#$&-~]+/gu
const TAG = /^(?:W\/)?"([!#-~]*)"$/

/**
 * A strong tag. Characters that a tag cannot hold, and `%`, are percent-encoded as in URLs; of a
 * UUID there are none.
 */
export function etagOf(version: string): string {
  return `"${version.replace(ESCAPED, (run) => encodeURIComponent(run))}"`
}

/**
 * The version in a tag, a weak one included: proxies weaken the tags of what they compress.
 * `undefined`: it is no tag of ours.
 */
export function versionIn(etag: string): string | undefined {
  const [, escaped] = TAG.exec(etag.trim()) ?? []
  try {
    return escaped === undefined ? undefined : decodeURIComponent(escaped)
  } catch {
    return undefined
  }
}
