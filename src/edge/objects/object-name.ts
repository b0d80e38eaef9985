import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64url } from '../../ports/base64.ts'
import type { Scope } from '../../ports/op.ts'
import { scopeName } from '../../ports/scope-name.ts'

/**
 * Name of the Durable Object that is a scope's home: of a session's, or of a user's where the scope
 * has no session. A hash of fixed shape, since names joined with a separator collide and Cloudflare
 * normalises nothing (`a:b` + `c`, `a` + `b:c`).
 */
export function objectName(scope: Scope): string {
  const tuple = scopeName(scope)
  let name = names.get(tuple)
  if (name === undefined) {
    if (names.size >= MOST_NAMES) names.clear()
    name = hashed(tuple)
    names.set(tuple, name)
  }
  return name
}

/**
 * Names that were made lately: a caller mostly calls again, and a hash costs more than
 * all else of a call's routing.
 */
const names = new Map<string, string>()
const MOST_NAMES = 1_024

function hashed(tuple: string): string {
  return `v1.${base64url(sha256(utf8ToBytes(tuple)))}`
}
