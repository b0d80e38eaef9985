/** What happens in a world: the same in both of a pair, but for the secret. */
import fc from 'fast-check'

export type Session = 'trip' | 'home'

/** `secret`: whether what is said holds the secret. `at`: a place among what is there, modulo. */
export type Step =
  | {
      readonly does: 'say'
      readonly in: Session
      readonly role: 'user' | 'assistant' | 'system'
      readonly secret: boolean
      readonly filler: number
      readonly picture: boolean
    }
  | { readonly does: 'tool'; readonly in: Session; readonly secret: boolean; readonly web: boolean }
  | {
      readonly does: 'remember'
      readonly in: Session
      readonly kind: 'finding' | 'preference' | 'constraint' | 'blocker'
      readonly secret: boolean
      readonly of: number
    }
  | {
      readonly does: 'again'
      readonly in: Session
      readonly secret: boolean
      readonly at: number
      readonly promotes: boolean
    }
  | { readonly does: 'commit'; readonly in: Session; readonly secret: boolean }
  | {
      readonly does: 'context'
      readonly in: Session
      readonly tab: 0 | 1
      readonly newEpoch: boolean
      readonly preview: boolean
      readonly system: string
      /** As a run that is resumed: most messages of the past; 0: the epoch goes on. */
      readonly resume: number
    }
  | { readonly does: 'compact' | 'undo' | 'history' | 'clear' | 'keepNone'; readonly in: Session }
  | {
      readonly does: 'start'
      readonly in: Session
      readonly own: boolean
      readonly asks: boolean
      readonly secret: boolean
    }
  | { readonly does: 'recall'; readonly in: Session; readonly secret: boolean }
  | { readonly does: 'checkpoint'; readonly in: Session; readonly value: number }
  | {
      /** Many sentences are more than there is room for. */
      readonly does: 'profile' | 'skill'
      readonly value: number
      readonly secret: boolean
      readonly filler: number
    }
  | { readonly does: 'remove'; readonly of: 'profile' | 'skill'; readonly value: number }
  | { readonly does: 'title' | 'tick'; readonly value: number }
  | { readonly does: 'rewind'; readonly in: Session; readonly at: number }
  | { readonly does: 'promote'; readonly in: Session; readonly at: number }
  | {
      readonly does: 'forget'
      readonly in: Session
      readonly of: 'message' | 'fact' | 'summary'
      readonly at: number
    }
  | { readonly does: 'together'; readonly in: Session }
  | { readonly does: 'crash'; readonly in: number }
  /** Where devices follow a home: one of them sends and fetches all; the user goes to the other. */
  | { readonly does: 'sync'; readonly device: 0 | 1 }
  | { readonly does: 'move' }
  | { readonly does: 'delete' | 'export' | 'import' | 'reopen' | 'work' }

export interface History {
  readonly before: readonly Step[]
  /** Played once all that holds the secret is forgotten. */
  readonly after: readonly Step[]
}

const inSession = fc.constantFrom<Session>('trip', 'trip', 'home')
const rarely = fc.nat(5).map((number) => number === 0)

function step(secret: fc.Arbitrary<boolean>, isSynced: boolean): fc.Arbitrary<Step> {
  const of = <Does extends Step['does']>(does: Does, more: object = {}) =>
    fc.record({ does: fc.constant(does), ...more } as never) as unknown as fc.Arbitrary<Step>
  return fc.oneof(
    {
      weight: 8,
      arbitrary: of('say', {
        in: inSession,
        role: fc.constantFrom('user', 'user', 'assistant', 'assistant', 'system'),
        secret,
        filler: fc.nat(30),
        picture: rarely,
      }),
    },
    { weight: 3, arbitrary: of('tool', { in: inSession, secret, web: fc.boolean() }) },
    {
      weight: 4,
      arbitrary: of('remember', {
        in: inSession,
        kind: fc.constantFrom('finding', 'preference', 'constraint', 'blocker'),
        secret,
        of: fc.nat(20),
      }),
    },
    {
      weight: 2,
      arbitrary: of('again', { in: inSession, secret, at: fc.nat(9), promotes: fc.boolean() }),
    },
    { weight: 1, arbitrary: of('commit', { in: inSession, secret }) },
    {
      weight: 6,
      arbitrary: of('context', {
        in: inSession,
        tab: fc.constantFrom(0, 1),
        newEpoch: rarely,
        preview: rarely,
        system: fc.constantFrom('', '', 'Answer in rhymes.'),
        resume: rarely.map((does) => (does ? 4 : 0)),
      }),
    },
    { weight: 1, arbitrary: of('compact', { in: inSession }) },
    { weight: 1, arbitrary: of('undo', { in: inSession }) },
    { weight: 2, arbitrary: of('start', { in: inSession, own: rarely, asks: fc.boolean(), secret }) },
    { weight: 1, arbitrary: of('history', { in: inSession }) },
    { weight: 2, arbitrary: of('recall', { in: inSession, secret }) },
    { weight: 1, arbitrary: of('checkpoint', { in: inSession, value: fc.nat(9) }) },
    { weight: 1, arbitrary: of('keepNone', { in: inSession }) },
    { weight: 1, arbitrary: of('clear', { in: inSession }) },
    { weight: 2, arbitrary: of('profile', { value: fc.nat(3), secret, filler: fc.nat(90) }) },
    { weight: 2, arbitrary: of('skill', { value: fc.nat(3), secret, filler: fc.nat(40) }) },
    {
      weight: 1,
      arbitrary: of('remove', { of: fc.constantFrom('profile', 'skill'), value: fc.nat(3) }),
    },
    { weight: 1, arbitrary: of('title', { value: fc.nat(3) }) },
    { weight: 1, arbitrary: of('tick', { value: fc.nat(9) }) },
    { weight: 1, arbitrary: of('rewind', { in: inSession, at: fc.nat(20) }) },
    { weight: 1, arbitrary: of('promote', { in: inSession, at: fc.nat(9) }) },
    {
      weight: 2,
      arbitrary: of('forget', {
        in: inSession,
        of: fc.constantFrom('message', 'message', 'fact', 'summary'),
        at: fc.nat(20),
      }),
    },
    { weight: 2, arbitrary: of('together', { in: inSession }) },
    { weight: 1, arbitrary: of('crash', { in: fc.nat(14) }) },
    { weight: 1, arbitrary: of('export') },
    { weight: 1, arbitrary: of('import') },
    { weight: 1, arbitrary: of('reopen') },
    { weight: 1, arbitrary: of('work') },
    { weight: 1, arbitrary: rarely.chain((does) => (does ? of('delete') : of('reopen'))) },
    { weight: isSynced ? 6 : 0, arbitrary: of('sync', { device: fc.constantFrom(0, 1) }) },
    { weight: isSynced ? 5 : 0, arbitrary: of('move') },
  )
}

function historiesOf(isSynced: boolean): fc.Arbitrary<History> {
  return fc.record({
    before: fc.array(step(fc.boolean(), isSynced), { minLength: 8, maxLength: 60, size: 'max' }),
    after: fc.array(step(fc.constant(false), isSynced), { maxLength: 10, size: 'max' }),
  })
}

export const histories = historiesOf(false)
/** Of a user with two devices. */
export const syncedHistories = historiesOf(true)
