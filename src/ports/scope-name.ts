import type { Scope } from './op.ts'

/** A scope as stores name it: its ids as JSON, so that no two scopes have one name. */
export function scopeName({ tenant, userId, sessionId }: Scope): string {
  return JSON.stringify([tenant ?? null, userId, sessionId ?? null])
}

/** Whether two scopes have one name. */
export function isSameScope(one: Scope, other: Scope): boolean {
  return one.tenant === other.tenant && one.userId === other.userId && one.sessionId === other.sessionId
}

/** The scope of a name. */
export function scopeNamed(name: string): Scope {
  const [tenant, userId, sessionId] = JSON.parse(name) as [string | null, string, string | null]
  return { ...(tenant !== null && { tenant }), userId, ...(sessionId !== null && { sessionId }) }
}
