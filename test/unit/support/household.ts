import fc from 'fast-check'
import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  type ContextOptionsOf,
  isPlimsollError,
  mapStore,
  type RecallShape,
  type Store,
} from '../../../src/index.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import type { Fact, FactInput, FactKind } from '../../../src/ports/fact.ts'
import {
  type FullMemory,
  type FullMemoryOptions,
  type FullSession,
  fullMemory,
} from '../../contract/full-memory.ts'
import { rewindAt, undoIfAny } from './scene.ts'

const DAY = 86_400_000

/**
 * One thing that happens to a user with two sessions, one of them open in two tabs. Places are
 * fractions of what is there.
 */
export type Happening =
  | { readonly type: 'say'; readonly tab: number; readonly size: number }
  | { readonly type: 'step'; readonly tab: number; readonly size: number }
  | {
      readonly type: 'remember'
      readonly tab: number
      readonly fact: Pick<FactInput, 'kind' | 'trust' | 'pinned' | 'priority' | 'confidence'>
      readonly size: number
      readonly days: number | undefined
    }
  | Change
  | { readonly type: 'profile'; readonly name: string; readonly size: number | undefined }
  | { readonly type: 'skill'; readonly name: string; readonly size: number | undefined }
  | { readonly type: 'load' | 'unload'; readonly tab: number; readonly name: string }
  | { readonly type: 'checkpoint'; readonly tab: number; readonly size: number }
  | { readonly type: 'day' }
  | { readonly type: 'rewind'; readonly tab: number; readonly place: number }
  | { readonly type: 'undo' | 'reopen'; readonly tab: number }
  | { readonly type: 'context'; readonly tab: number; readonly recall: boolean; readonly tail: string }

/** What is done to a fact that holds. */
interface Change {
  readonly type: 'supersede' | 'forget' | 'resolve' | 'pin' | 'unpin' | 'promote' | 'review'
  readonly tab: number
  readonly place: number
}

const tab = fc.nat(2)
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const size = fc.oneof({ weight: 6, arbitrary: fc.nat(12) }, { weight: 1, arbitrary: fc.constant(90) })
const kinds: readonly FactKind[] = ['finding', 'blocker', 'correction', 'preference', 'constraint']

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('say' as const), tab, size }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('step' as const), tab, size }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('remember' as const),
      tab,
      fact: fc.record(
        {
          kind: fc.constantFrom(...kinds),
          trust: fc.constantFrom('user', 'assistant', 'web'),
          priority: fc.integer({ min: 0, max: 9 }),
          confidence: fc.constantFrom(0.3, 0.7, 1),
        },
        { requiredKeys: ['kind'] },
      ),
      size,
      days: fc.constantFrom(undefined, undefined, 1, 2),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom(
        ...(['supersede', 'forget', 'resolve', 'pin', 'unpin', 'promote', 'review'] as const),
      ),
      tab,
      place,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('profile' as const, 'skill' as const),
      name: fc.constantFrom('one', 'two'),
      size: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 3, arbitrary: size }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('load' as const, 'unload' as const),
      tab,
      name: fc.constantFrom('one', 'two'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('checkpoint' as const), tab, size }) },
  { weight: 1, arbitrary: fc.constant({ type: 'day' } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rewind' as const), tab, place }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('undo' as const, 'reopen' as const), tab }) },
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('context' as const),
      tab,
      recall: fc.boolean(),
      tail: fc.constantFrom('', '', 'It is noon.'),
    }),
  },
)

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(happening, {
  minLength: 1,
  maxLength: 60,
  size: 'max',
})

/** What may go wrong when a fact is changed that is not fit for it. */
const REFUSALS = ['ERR_NOT_FOUND', 'ERR_INVALID_ARGUMENT', 'ERR_CONFLICT', 'ERR_LIMIT', 'ERR_DUPLICATE_ID']

/**
 * Two tabs on the session `trip`, and one on the session `home`, all of one user. Each text that is
 * remembered has a word of its own.
 */
export class Household {
  readonly store: Store = mapStore()
  readonly options: Omit<FullMemoryOptions, 'store'>
  now = 20_779.5 * DAY
  readonly tabs: FullSession[]
  /** Words of all facts that were ever remembered, by id. */
  readonly words = new Map<string, string>()
  /** Words that a document, a skill or a checkpoint holds no more. */
  readonly gone = new Set<string>()
  readonly #current = new Map<string, string>()
  #ids = 0
  #words = 0

  constructor(options: Omit<FullMemoryOptions, 'store'>) {
    this.options = options
    this.tabs = ['trip', 'trip', 'home'].map((sessionId) => this.open(sessionId))
  }

  memory(): FullMemory {
    return fullMemory({
      clock: () => this.now,
      laws: lawChecker,
      newId: () => `id-${String(++this.#ids).padStart(6, '0')}`,
      ...this.options,
      store: this.store,
    })
  }

  /** A session with nothing in memory. */
  open(sessionId: string): FullSession {
    return this.memory().session({ userId: 'ada', sessionId })
  }

  sessionOf(tab: number): string {
    return tab === 2 ? 'home' : 'trip'
  }

  async play(
    happenings: readonly Happening[],
    onContext: (
      context: Context,
      options: ContextOptionsOf<{ recall: RecallShape }>,
      happening: Extract<Happening, { type: 'context' }>,
    ) => Promise<void>,
    onRefused: (
      error: unknown,
      options: ContextOptionsOf<{ recall: RecallShape }>,
      happening: Extract<Happening, { type: 'context' }>,
    ) => Promise<void> = async () => {},
  ): Promise<void> {
    for (const happening of happenings) {
      if (happening.type !== 'context') {
        await this.#happen(happening)
        continue
      }
      const { tab, recall, tail } = happening
      const options: ContextOptionsOf<{ recall: RecallShape }> = {
        onPending: 'abandon',
        ...(tail !== '' && { tail }),
        ...(recall && this.options.recall && { recall: true }),
      }
      let context: Context
      try {
        context = await (this.tabs[tab] as FullSession).context(options)
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
        await onRefused(error, options, happening)
        continue
      }
      await onContext(context, options, happening)
    }
  }

  /** Id of the message that was written last to a tab's session, unless a rewind followed. */
  async newest(tab: number): Promise<string | undefined> {
    const log = this.store.open({ userId: 'ada', sessionId: this.sessionOf(tab) })
    const { rows } = await log.entries({ last: 1, kinds: ['message', 'rewind'] })
    return rows[0]?.kind === 'message' ? rows[0].id : undefined
  }

  /** Facts that hold now, those of the user and those of a session. */
  async live(sessionId: string): Promise<readonly Fact[]> {
    return this.open(sessionId).facts.list()
  }

  /** A text of a word that is nowhere else, and more of them. */
  #text(size: number): { readonly word: string; readonly text: string } {
    const word = `w${++this.#words}q`
    return {
      word,
      text: `${word} ${Array.from({ length: size }, (_, at) => `${word}${at}`).join(' ')}`.trim(),
    }
  }

  /** A text in place of the one that stood there before. */
  #replace(key: string, size: number | undefined): string | undefined {
    const before = this.#current.get(key)
    if (before !== undefined) this.gone.add(before)
    if (size === undefined) {
      this.#current.delete(key)
      return undefined
    }
    const { word, text } = this.#text(size)
    this.#current.set(key, word)
    return text
  }

  async #happen(happening: Exclude<Happening, { type: 'context' }>): Promise<void> {
    const session = this.tabs['tab' in happening ? happening.tab : 0] as FullSession
    const user = this.memory().user({ userId: 'ada' })
    switch (happening.type) {
      case 'say':
        await session.append({ role: 'user', content: `Said ${'so much '.repeat(happening.size)}` })
        return
      case 'step': {
        const id = `call-${++this.#ids}`
        await session.append([
          { role: 'assistant', content: [{ type: 'tool-call', id, name: 'find', input: {} }] },
          {
            role: 'tool',
            content: [{ type: 'tool-result', callId: id, output: 'found much '.repeat(happening.size) }],
          },
        ])
        return
      }
      case 'remember': {
        const { fact, size, days } = happening
        const { word, text } = this.#text(size)
        const expires = days === undefined ? {} : { expiresAt: this.now + days * DAY }
        const result = await session.facts.remember({ ...fact, text, ...expires })
        this.words.set(result.fact.id, word)
        return
      }
      case 'profile': {
        const text = this.#replace(`profile/${happening.name}`, happening.size)
        if (text === undefined) await user.profile.delete(`${happening.name}.md`)
        else await user.profile.set(`${happening.name}.md`, text)
        return
      }
      case 'skill': {
        const text = this.#replace(`skill/${happening.name}`, happening.size)
        if (text === undefined) await user.skills.delete(happening.name)
        else await user.skills.set({ name: happening.name, description: text.slice(0, 300), text: 'How to.' })
        return
      }
      case 'load':
        await unless(session.skills.load(happening.name))
        return
      case 'unload':
        await session.skills.unload(happening.name)
        return
      case 'checkpoint': {
        const key = `checkpoint/${this.sessionOf(happening.tab)}`
        await session.checkpoint.set({ at: this.#replace(key, happening.size) ?? '' })
        return
      }
      case 'day':
        this.now += DAY
        return
      case 'rewind':
        await rewindAt(session, happening.place)
        return
      case 'undo':
        await undoIfAny(session)
        return
      case 'reopen':
        this.tabs[happening.tab] = this.open(this.sessionOf(happening.tab))
        return
      default:
        await this.#change(session, happening)
    }
  }

  async #change(session: FullSession, { type, place }: Change): Promise<void> {
    const facts = await session.facts.list()
    const fact = facts[Math.floor(place * facts.length)]
    if (!fact) return
    const { id, kind } = fact
    if (type === 'supersede') {
      const { word, text } = this.#text(2)
      await unless(
        session.facts.supersede(id, { kind, text }).then(({ fact }) => this.words.set(fact.id, word)),
      )
    } else if (type === 'review') await unless(session.facts.review(id, 'good'))
    else if (type === 'forget') await unless(forget(session, id))
    else await unless(session.facts[type](id))
  }
}

/** A refusal is no failure here: the fact was not fit for what was asked. */
async function unless(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!REFUSALS.some((code) => isPlimsollError(error, code as never))) throw error
  })
}
