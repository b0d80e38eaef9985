/** What happens over HTTP in a world: the same in both of a pair, but for the secret. */
import fc from 'fast-check'

export type Session = 'trip' | 'home'

/**
 * `secret`: whether what is said holds the secret. `at`: a place among what is there, modulo.
 * `key`: whether the request has an `Idempotency-Key`.
 */
export type Step =
  | {
      readonly does: 'say'
      readonly in: Session
      readonly role: 'user' | 'assistant'
      readonly secret: boolean
      readonly filler: number
      readonly key: boolean
      readonly way: 'messages' | 'context' | 'chat' | 'completion' | 'picture'
      readonly fails: boolean
    }
  | { readonly does: 'tool'; readonly in: Session; readonly secret: boolean }
  | {
      readonly does: 'remember'
      readonly in: Session | 'me' | 'mcp'
      readonly kind: 'finding' | 'preference' | 'constraint' | 'blocker'
      readonly secret: boolean
      readonly key: boolean
    }
  | { readonly does: 'context'; readonly in: Session; readonly newEpoch: boolean; readonly preview: boolean }
  | {
      readonly does: 'change'
      readonly in: Session
      readonly at: number
      readonly to: 'pinned' | 'promote' | 'resolve' | 'review'
    }
  | { readonly does: 'recall'; readonly in: Session; readonly secret: boolean }
  | { readonly does: 'title'; readonly in: Session; readonly secret: boolean; readonly value: number }
  | {
      readonly does: 'checkpoint' | 'profile' | 'skill'
      readonly in: Session
      readonly value: number
      readonly key: boolean
    }
  | { readonly does: 'rewind' | 'forget' | 'forgetFact'; readonly in: Session; readonly at: number }
  | { readonly does: 'wrong'; readonly in: Session; readonly secret: boolean; readonly at: number }
  | { readonly does: 'compact' | 'undo' | 'read' | 'evict'; readonly in: Session }
  | { readonly does: 'delete' | 'export' | 'repeat' | 'work' | 'tick' }

export interface History {
  readonly before: readonly Step[]
  /** How the secret is forgotten in the second session: with it, or text by text. */
  readonly deletes: boolean
  /** Played once all that holds the secret is forgotten. */
  readonly after: readonly Step[]
}

const inSession = fc.constantFrom<Session>('trip', 'trip', 'home')
const rarely = fc.nat(5).map((number) => number === 0)

function step(secret: fc.Arbitrary<boolean>): fc.Arbitrary<Step> {
  const of = <Does extends Step['does']>(weight: number, does: Does, more: object = {}) => ({
    weight,
    arbitrary: fc.record({ does: fc.constant(does), in: inSession, ...more } as never) as never,
  })
  const key = fc.boolean()
  const at = fc.nat(9)
  const value = fc.nat(3)
  return fc.oneof<fc.WeightedArbitrary<Step>[]>(
    of(10, 'say', {
      role: fc.constantFrom('user', 'user', 'assistant'),
      secret,
      filler: fc.nat(20),
      key,
      way: fc.constantFrom('messages', 'messages', 'context', 'chat', 'completion', 'picture'),
      fails: rarely,
    }),
    of(2, 'tool', { secret }),
    of(4, 'remember', {
      in: fc.constantFrom('trip', 'home', 'me', 'mcp'),
      kind: fc.constantFrom('finding', 'preference', 'constraint', 'blocker'),
      secret,
      key,
    }),
    of(4, 'context', { newEpoch: rarely, preview: rarely }),
    of(2, 'change', { at, to: fc.constantFrom('pinned', 'promote', 'resolve', 'review') }),
    of(2, 'recall', { secret }),
    of(1, 'title', { secret, value }),
    of(1, 'checkpoint', { value, key }),
    of(1, 'profile', { value, key }),
    of(1, 'skill', { value, key }),
    of(1, 'rewind', { at }),
    of(1, 'forget', { at }),
    of(1, 'forgetFact', { at }),
    of(2, 'wrong', { secret, at }),
    ...(['compact', 'undo', 'read', 'evict'] as const).map((does) => of(1, does)),
    ...(['export', 'work', 'tick'] as const).map((does) => of(1, does)),
    of(2, 'repeat'),
    { weight: 1, arbitrary: rarely.map((does) => ({ does: does ? 'delete' : 'repeat' }) as never) },
  )
}

export const histories: fc.Arbitrary<History> = fc.record({
  before: fc.array(step(fc.boolean()), { minLength: 5, maxLength: 30, size: 'max' }),
  deletes: rarely,
  after: fc.array(step(fc.constant(false)), { maxLength: 6, size: 'max' }),
})
