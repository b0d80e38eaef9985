import { describe, expect, it } from 'vitest'
import { type Attempt, EdgeBodies, FAILED, isAfterWriting } from '../../everywhere/edge-bodies.ts'
import { SAMPLES } from '../../everywhere/edge-samples.ts'
import { SEED, size } from '../../everywhere/runs.ts'
import { Caller } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { encryption } from './opened.ts'
import { document, nameOf } from './routes.ts'
import { changedIn, notesWritten, type Rows, stateOf } from './rows.ts'

/**
 * With those that are sent again. `npm run test:fuzz` sends as many as one likes. With encryption
 * fewer: the doors are the same.
 */
const REQUESTS = size(encryption ? 1_000 : 5_000)
/** Callers at once. */
const LANES = 4
/** Attempts on one session, so that it stays small. */
const A_SESSION = 200
/** Attempts between two looks at what is stored. */
const A_LOOK = 5
/** The session of calls that name none. */
const UNNAMED = 'default'

/** Of a lane: its own user, and a session after the other. */
class Lane {
  readonly #bodies: EdgeBodies
  readonly statuses: number[] = []
  readonly problems: string[] = []

  constructor(seed: number) {
    this.#bodies = new EdgeBodies(seed)
  }

  async run(requests: number): Promise<void> {
    while (this.statuses.length < requests) {
      const caller = new Caller()
      const session = await caller.session()
      const { body } = await caller.call<{ fact: { id: string } }>('POST', `/v1/sessions/${session}/facts`, {
        kind: 'finding',
        text: 'The 9:40 to Turin is full.',
      })
      const attempts = Array.from({ length: A_SESSION }, () =>
        this.#bodies.next({ session, fact: body.fact.id }),
      )
      for (let at = 0; at < A_SESSION && this.statuses.length < requests; at += A_LOOK)
        await this.#look(caller, session, attempts.slice(at, at + A_LOOK))
    }
  }

  /**
   * Where something was accepted, what was refused is sent again by itself: then nothing at all may
   * change.
   */
  async #look(caller: Caller, session: string, attempts: readonly Attempt[]): Promise<void> {
    let rest = attempts
    for (let times = 0; rest.length > 0 && times < 8; times++) {
      const before = await this.#stored(caller, session)
      const refused: Attempt[] = []
      for (const attempt of rest) if (await this.#send(caller, attempt)) refused.push(attempt)
      if (refused.length === rest.length) {
        const changed = changedIn(before, await this.#stored(caller, session))
        if (changed.length > 0)
          this.problems.push(`${changed.join()} changed by one of: ${rest.map(shown).join('\n')}`)
        return
      }
      rest = refused
    }
  }

  /** What was accepted before is written whole then. */
  async #stored({ user }: Caller, session: string): Promise<Rows> {
    await notesWritten(user, UNNAMED)
    return stateOf(user, session)
  }

  /** @returns whether it was refused, and so must have changed nothing */
  async #send(caller: Caller, attempt: Attempt): Promise<boolean> {
    const { method, path, headers, body } = attempt
    const response = await caller.fetch(method, path, { headers, body })
    const text = await response.text()
    const { status } = response
    this.statuses.push(status)
    if (status >= 500 || FAILED.test(text)) this.problems.push(`${status}: ${shown(attempt)} ${text}`)
    return status >= 400 && !isAfterWriting(text)
  }
}

function shown({ method, path, headers, body }: Attempt): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 300)}`
}

describe('an edge that is sent anything at all (T31)', () => {
  it('is sent something on every route that takes a body', () => {
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { readonly requestBody?: unknown }>).flatMap(
        ([method, { requestBody }]) => (requestBody ? [{ method: method.toUpperCase(), path }] : []),
      ),
    )
    expect(Object.keys(SAMPLES).sort()).toEqual(described.map(nameOf).sort())
  })

  it(`refuses or does what ${REQUESTS} requests ask, never fails, and keeps nothing of what it refuses`, {
    timeout: 180_000,
  }, async () => {
    await useDemoModel()
    const lanes = Array.from({ length: LANES }, (_, index) => new Lane(SEED + index))
    await Promise.all(lanes.map((lane) => lane.run(REQUESTS / LANES)))
    const said = `seed ${SEED}`
    expect(lanes.flatMap(({ problems }) => problems).slice(0, 40), said).toEqual([])
    const statuses = lanes.flatMap(({ statuses }) => statuses)
    // It would prove little if nothing got in, or everything.
    expect(statuses.length, said).toBeGreaterThanOrEqual(REQUESTS)
    expect(statuses.filter((status) => status < 300).length, said).toBeGreaterThan(REQUESTS / 20)
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
