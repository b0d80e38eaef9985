/** Who talks where in an attack. */
import type { UserScope } from '../../src/index.ts'

/** The second and the third are one to whatever joins their names by slashes. */
export const PLACES = [
  { tenant: 'red', userId: 'ada', sessionId: 'one' },
  { tenant: 'red', userId: 'ada', sessionId: 'one/two' },
  { tenant: 'red/ada', userId: 'one', sessionId: 'two' },
  { userId: 'ada', sessionId: 'one' },
] as const

/** A word in all that is said in a place. */
export const CANARIES = ['wren', 'rook', 'teal', 'knot'] as const

/** A user, with a word in all that the user's sessions share. */
export interface Owner {
  readonly user: UserScope
  readonly canary: string
  /** The user's places. */
  readonly scopes: readonly number[]
}

export const OWNERS: readonly Owner[] = [
  { user: { tenant: 'red', userId: 'ada' }, canary: 'heron', scopes: [0, 1] },
  { user: { tenant: 'red/ada', userId: 'one' }, canary: 'stork', scopes: [2] },
  { user: { userId: 'ada' }, canary: 'crane', scopes: [3] },
]

/** Which of them a place is of. */
export function ownerOf(scope: number): number {
  return OWNERS.findIndex(({ scopes }) => scopes.includes(scope))
}
