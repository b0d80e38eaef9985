/** Versions as entity tags (RFC 9110, section 8.8.3): version `v` travels as `"v"`. */

/** Runs of what a tag cannot hold as it is, and the sign that opens an escape. */
const ESCAPED = /[^!#$&-~]+/gu
const TAG = /(?:W\/)?"([!#-~]*)"/y
const COMMA = /[ \t]*,[ \t]*/y

/**
 * A strong tag. Characters that a tag cannot hold, and `%`, are percent-encoded as in URLs; of a
 * UUID there are none.
 */
export function etagOf(version: string): string {
  return `"${version.replace(ESCAPED, (run) => encodeURIComponent(run))}"`
}

/**
 * The versions in a list of tags (RFC 9110, section 13.1), or `*`: any. Of weak tags too: proxies
 * weaken the tags of what they compress. `undefined`: it is no list of tags of ours.
 */
export function versionsIn(header: string): readonly string[] | '*' | undefined {
  const list = header.trim()
  if (list === '*') return list
  const versions: string[] = []
  try {
    for (let at = 0; ; ) {
      TAG.lastIndex = at
      const [, escaped] = TAG.exec(list) ?? []
      if (escaped === undefined) return undefined
      versions.push(decodeURIComponent(escaped))
      if (TAG.lastIndex === list.length) return versions
      COMMA.lastIndex = TAG.lastIndex
      if (!COMMA.test(list)) return undefined
      at = COMMA.lastIndex
    }
  } catch {
    return undefined
  }
}
