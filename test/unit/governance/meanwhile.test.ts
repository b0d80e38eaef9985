import { describe, expect, it } from 'vitest'
import { isPlimsollError, mapStore, type Store } from '../../../src/index.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import type { FullSession } from '../../contract/full-memory.ts'
import { ADA, CANARY, memoryOver, readEverything } from '../../everywhere/governance.ts'
import { isWhole, limit } from '../../everywhere/runs.ts'
import { PausedStore } from '../support/paused-store.ts'

const TRIP = { ...ADA, sessionId: 'trip' }
const HOME = { ...ADA, sessionId: 'home' }

const sessionIn = (store: Store): FullSession => memoryOver(store).session(TRIP)

type Work = (store: Store) => Promise<unknown>

/** What one tab does, while another one forgets. */
const WORKS: readonly (readonly [name: string, work: Work])[] = [
  ['a context', (store) => sessionIn(store).context()],
  ['a context of another session', (store) => memoryOver(store).session(HOME).context()],
  [
    'a context of a session without a word',
    (store) =>
      memoryOver(store)
        .session({ ...ADA, sessionId: 'new' })
        .context(),
  ],
  ['a compaction', (store) => sessionIn(store).compaction.run({ reason: 'manual' } as never)],
  [
    'remembering a finding',
    (store) =>
      sessionIn(store).facts.remember({ kind: 'finding', text: `It says ${CANARY}.`, sources: ['said'] }),
  ],
  [
    'remembering a preference',
    (store) =>
      sessionIn(store).facts.remember({ kind: 'preference', text: `Prefers ${CANARY}.`, sources: ['said'] }),
  ],
  [
    'remembering what follows from a fact',
    (store) =>
      sessionIn(store).facts.remember({ kind: 'preference', text: `And ${CANARY}.`, sources: ['fact/own'] }),
  ],
  [
    'a commit with facts',
    (store) =>
      sessionIn(store).commit({
        messages: { role: 'assistant', content: 'Noted.' },
        facts: [{ kind: 'constraint', text: `Only ${CANARY}.`, sources: ['said'] }],
      }),
  ],
  ['a promotion', (store) => sessionIn(store).facts.promote('own', { pinned: true })],
  ['recall', (store) => sessionIn(store).recall.find(`where is ${CANARY}`)],
  ['a context with a summary', (store) => sessionIn(store).context({ newEpoch: true })],
]

const FORGETS: readonly (readonly [name: string, forgets: Work])[] = [
  ['its message', (store) => forget(sessionIn(store), 'said')],
  ['the fact that is shared', (store) => forgetFact(memoryOver(store), ADA, 'users')],
]

async function write(store: Store, isMessage: boolean): Promise<void> {
  const memory = memoryOver(store)
  const trip = memory.session(TRIP)
  await trip.append({ id: 'said', role: 'user', content: isMessage ? `The code is ${CANARY}.` : 'Hello.' })
  for (let round = 0; round < 22; round++)
    await trip.append([
      { role: 'user', content: `Question ${round} about trains, seats and the weather in Turin.` },
      { role: 'assistant', content: `Answer ${round}: it depends on the train, and on the day.` },
    ])
  await memory.session(HOME).append({ role: 'user', content: 'Hello.' })
  const text = isMessage ? `It is ${CANARY}.` : 'It is the code.'
  await trip.facts.remember({ id: 'own', kind: 'finding', text, sources: ['said'] })
  await trip.facts.remember({ id: 'users', kind: 'preference', text: `Likes ${CANARY}.`, sources: ['said'] })
}

/** What is refused is as good as what is forgotten. */
async function unlessRefused(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isPlimsollError(error) || error.code === 'ERR_LAW_BROKEN') throw error
  })
}

/** How far one tab comes, then the other one, and so on; then each ends, the last one at last. */
interface Order {
  readonly isForgetFirst: boolean
  readonly stops: readonly number[]
}

class Overtaking {
  readonly #isMessage: boolean
  readonly #work: Work
  readonly #forgets: Work

  constructor(isMessage: boolean, work: Work, forgets: Work) {
    this.#isMessage = isMessage
    this.#work = work
    this.#forgets = forgets
  }

  /** Calls of the store that each of them makes alone. */
  async calls(): Promise<{ readonly work: number; readonly forgets: number }> {
    const counted = async (call: Work): Promise<number> => {
      const store = mapStore()
      await write(store, this.#isMessage)
      const paused = new PausedStore(store)
      await unlessRefused(call(paused.store))
      return paused.calls
    }
    return { work: await counted(this.#work), forgets: await counted(this.#forgets) }
  }

  async check(order: Order): Promise<void> {
    const store = mapStore()
    await write(store, this.#isMessage)
    const calls = order.isForgetFirst ? [this.#forgets, this.#work] : [this.#work, this.#forgets]
    const begun = calls.map((call) => {
      const paused = new PausedStore(store)
      // Stopped before it begins.
      paused.hold()
      return { paused, done: unlessRefused(call(paused.store)) }
    })
    const [first, second] = begun as [(typeof begun)[0], (typeof begun)[0]]
    for (const [index, stop] of order.stops.entries()) {
      const { paused, done } = index % 2 === 1 ? second : first
      await paused.runTo(stop, done)
    }
    for (const { paused, done } of order.stops.length % 2 === 1 ? [second, first] : [first, second]) {
      paused.release()
      await done
    }
    const seen = async (): Promise<readonly unknown[]> => [
      order,
      (await readEverything(store)).includes(CANARY),
    ]
    expect(await seen()).toEqual([order, false])
    for (const scope of [TRIP, HOME])
      expect(JSON.stringify(await memoryOver(store).session(scope).context())).not.toContain(CANARY)
    expect(await seen()).toEqual([order, false])
  }
}

describe.each(FORGETS)('while another tab forgets %s', (name, forgets) => {
  const isMessage = name === 'its message'
  const works = isMessage ? WORKS : WORKS.filter(([name]) => name.includes('context') || name === 'recall')

  it.each(works)('%s writes nothing of it, wherever they overtake each other', async (_, work) => {
    const overtaking = new Overtaking(isMessage, work, forgets)
    const calls = await overtaking.calls()
    for (const isForgetFirst of [true, false]) {
      const [first, second] = isForgetFirst ? [calls.forgets, calls.work] : [calls.work, calls.forgets]
      for (let at = 0; at <= first; at++)
        for (let to = 0; to <= second; to++)
          // Once in between, and of what stops twice a part.
          if (isWhole || (to === second && at % 2 === 0) || (at * 31 + to) % 127 === 0)
            await overtaking.check({ isForgetFirst, stops: [at, to] })
    }
  })

  it.runIf(isMessage)(
    'a preference is not kept, though it is stopped as it is begun and as it is looked for',
    async () => {
      const work = WORKS.find(([name]) => name === 'remembering a preference') as (typeof WORKS)[0]
      const overtaking = new Overtaking(isMessage, work[1], forgets)
      const calls = await overtaking.calls()
      for (let at = 1; at <= calls.forgets; at++)
        for (let to = 2; to <= calls.work; to++)
          for (let again = at + 1; again <= calls.forgets; again++)
            // Its session was opened before anything was owed.
            if (isWhole || (at * 7 + to * 3 + again) % 61 === 0)
              await overtaking.check({ isForgetFirst: false, stops: [1, at, to, again] })
    },
    limit(60_000),
  )
})
