import { describe, expect, it } from 'vitest'
import { sealOp } from '../../src/kernel/log/seal.ts'
import type { Message } from '../../src/ports/message.ts'
import type { Envelope, Name, Op } from '../../src/ports/op.ts'
import { type Attachment, PAGE_ROWS } from '../../src/ports/store.ts'
import {
  type Newest,
  PUSH_OPS,
  type PullAnswer,
  type PullRequest,
  type PushAnswer,
  type PushResult,
  SYNC_PROTOCOL,
  SYNC_SCOPES,
  type SyncOp,
  type SyncScope,
} from '../../src/ports/sync.ts'
import { decodePullAnswers, decodePushAnswers, encodePull, encodePush } from '../../src/sync/wire.ts'
import { isFailure } from '../../src/sync/wire-requests.ts'
import { bytesOf } from './samples.ts'

/** A home as replicas see it. */
export interface SyncHome {
  /**
   * Contract: answers `POST /v1/sync/push` and `…/pull`, `PUT` and `GET /v1/sync/attachment`,
   * whatever host the URL names.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /** Contract: gives the headers by which a user of that name is known. */
  readonly authorize: (user: string) => Readonly<Record<string, string>>
  /**
   * Optional: remembers what the home holds, and gives what takes it back to that, as a restore
   * from a backup does.
   */
  readonly save?: () => Promise<() => Promise<void>>
}

type Page = Exclude<PullAnswer, { reset: unknown }>
type Pushed = Exclude<PushAnswer, { erased: true }>

let made = 0

/** The home of one session of one user, whom no other test knows. */
class Caller {
  readonly #home: SyncHome
  readonly user: string
  readonly scope: SyncScope

  constructor(
    home: SyncHome,
    user = `user-${++made}`,
    scope: SyncScope = { sessionId: `session-${++made}` },
  ) {
    this.#home = home
    this.user = user
    this.scope = scope
  }

  in(scope: SyncScope): Caller {
    return new Caller(this.#home, this.user, scope)
  }

  as(user: string): Caller {
    return new Caller(this.#home, user, this.scope)
  }

  /** @param headers in place of those of the user */
  send(call: 'push' | 'pull', body: string, headers = this.#home.authorize(this.user)): Promise<Response> {
    const request = new Request(`https://home.example/v1/sync/${call}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })
    return this.#home.fetch(request)
  }

  /** @param given what is sent; without it, it is asked for */
  attachment(id: string, generation: string, given?: Attachment): Promise<Response> {
    const query = new URLSearchParams({ session: this.scope.sessionId ?? '', generation, id })
    const request = new Request(`https://home.example/v1/sync/attachment?${query}`, {
      method: given ? 'PUT' : 'GET',
      headers: { ...(given && { 'Content-Type': given.mediaType }), ...this.#home.authorize(this.user) },
      ...(given && { body: given.bytes }),
    })
    return this.#home.fetch(request)
  }

  async push(generation: string, ...ops: readonly (Op | SyncOp)[]): Promise<PushAnswer> {
    const request = { ...this.scope, generation, ops: ops.map((op) => ('kind' in op ? sealOp(op) : op)) }
    const [answer] = decodePushAnswers(await textOf(await this.send('push', encodePush([request]))))
    if (!answer || isFailure(answer)) throw new Error(`push: ${JSON.stringify(answer)}`)
    return answer
  }

  /** As {@link push}, where nothing was erased. */
  async write(generation: string, ...ops: readonly (Op | SyncOp)[]): Promise<Pushed> {
    const answer = await this.push(generation, ...ops)
    if ('erased' in answer) throw new Error('push: erased')
    return answer
  }

  async ask(request: PullRequest): Promise<PullAnswer> {
    const body = encodePull([{ ...this.scope, ...request }])
    const [answer] = decodePullAnswers(await textOf(await this.send('pull', body)))
    if (!answer || isFailure(answer)) throw new Error(`pull: ${JSON.stringify(answer)}`)
    return answer
  }

  /** As {@link ask}, where there is a page. */
  async pull(request: PullRequest = START): Promise<Page> {
    const answer = await this.ask(request)
    if ('reset' in answer) throw new Error(`pull: ${answer.reset}`)
    return answer
  }

  /** All ops of the log. */
  async all(limit?: number): Promise<readonly SyncOp[]> {
    const ops: SyncOp[] = []
    let place: PullRequest = START
    for (;;) {
      const page = await this.pull({ ...place, ...(limit !== undefined && { limit }) })
      expect(page.from).toBe(ops.length)
      ops.push(...(page.ops as readonly SyncOp[]))
      expect(page.cursor).toBe(ops.length)
      place = placeIn(page)
      if (page.ops.length === 0) {
        expect(page.head).toBe(ops.length)
        return ops
      }
    }
  }
}

/** Of a replica that knows nothing. */
const START: PullRequest = { cursor: 0, anchor: '' }

function placeIn({ generation, cursor, anchor }: Page): PullRequest {
  return { generation, cursor, anchor }
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
  return text
}

function namesOf(ops: Page['ops']): readonly string[] {
  return ops.map((op) => ('envelope' in op ? op.envelope.opId : op.opId))
}

function seqsOf(results: readonly PushResult[]): readonly (number | undefined)[] {
  return results.map((result) => ('seq' in result ? result.seq : undefined))
}

interface SayOptions {
  readonly text?: string
  readonly opId?: string
  readonly round?: string
  readonly createdAt?: number
}

function say(
  id: string,
  {
    text = `Text of ${id}`,
    opId = `entry:${id}`,
    round = id,
    createdAt = 1_790_000_000_000,
  }: SayOptions = {},
): Op {
  const message: Message = { id, role: 'user', content: text, createdAt, trust: 'user' }
  return { kind: 'append', opId, round, messages: [message] }
}

/** A message that names an attachment. */
function show(id: string, ref: string): Op {
  const content = [{ type: 'media', mediaType: 'image/png', ref }] as const
  const message: Message = { id, role: 'user', content, createdAt: 1_790_000_000_000, trust: 'user' }
  return { kind: 'append', opId: `entry:${id}`, round: id, messages: [message] }
}

/** How a PNG begins: a home may look whether it is one. */
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

function picture(id: string, length = 4_000): Attachment {
  const bytes = bytesOf(length)
  bytes.set(PNG)
  return { id, mediaType: 'image/png', bytes }
}

function put(opId: string, base: string | null, value: string, key = 'app/note'): Op {
  return { kind: 'put', opId, key, base, value: { text: value } }
}

function remove(opId: string, target: Name): Op {
  return { kind: 'delete', opId, target }
}

function hide(id: string, hides: readonly string[]): Op {
  return { kind: 'mark', opId: `entry:${id}`, base: null, entry: { type: 'rewind', id, hides } }
}

const erase = (opId: string): Op => ({ kind: 'erase', opId })
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

/**
 * What the home of a memory's replicas must do, by its calls alone, as tests for Vitest. All
 * that is pushed is as this library writes it, so that a home passes which checks that.
 *
 * @param openHome gives a home; it need not be an empty one
 * @example
 * ```ts
 * import { mapStore } from 'plimsoll'
 * import { syncServer } from 'plimsoll/sync'
 * import { describeSync } from 'plimsoll/testing'
 *
 * const authenticate = async (request: Request) => ({ userId: request.headers.get('User') ?? '' })
 * describeSync('map', () => ({
 *   fetch: syncServer({ store: mapStore(), authenticate }),
 *   authorize: (user) => ({ User: user }),
 * }))
 * ```
 */
export function describeSync(name: string, openHome: () => SyncHome | Promise<SyncHome>): void {
  const open = async (): Promise<Caller> => new Caller(await openHome())

  describe(`the home ${name}`, () => {
    describe('a push', () => {
      it('gives each op the next seq, in the order in which they were written', async () => {
        const home = await open()
        const { results, head } = await home.write('', say('m1'), put('o2', null, 'a'), hide('r1', ['m1']))
        expect(seqsOf(results)).toEqual([1, 2, 3])
        expect(head).toBe(3)
        expect(seqsOf((await home.write('', say('m2'))).results)).toEqual([4])
      })

      it('is answered the same when it is sent again, and nothing is written twice', async () => {
        const home = await open()
        const ops = [say('m1'), put('o2', null, 'a'), put('o3', 'other', 'b'), say('m1', { opId: 'o4' })]
        const answer = await home.write('', ...ops)
        const before = await home.pull()
        expect(await home.push(answer.generation, ...ops)).toEqual({ ...answer, repeated: [0, 1] })
        expect(await home.push(answer.generation, ...ops.slice(1, 3))).toMatchObject({
          results: answer.results.slice(1, 3),
        })
        expect(await home.pull()).toEqual(before)
      })

      it('of an op that is known is answered as before, whatever the op says now', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1', { text: 'one' }))
        expect((await home.write(generation, say('m1', { text: 'two' }))).results).toEqual([{ seq: 1 }])
        expect((await home.all())[0]?.bodies[0]).toContain('one')
      })

      it('of a put whose base is another version is a conflict, which writes nothing and stays one', async () => {
        const home = await open()
        const late = put('o3', 'o1', 'c')
        const { generation } = await home.write('', put('o1', null, 'a'), put('o2', 'o1', 'b'))
        const { results, head } = await home.write(generation, late, say('m1'), put('o4', null, 'd', 'app/b'))
        expect(results).toEqual([{ conflict: 'o2' }, { seq: 3 }, { seq: 4 }])
        expect(head).toBe(4)
        await home.write(generation, put('o1b', 'o2', 'e'))
        expect((await home.write(generation, late)).results).toEqual([{ conflict: 'o2' }])
        expect((await home.write(generation, put('o5', 'o9', 'a', 'app/none'))).results).toEqual([
          { conflict: null },
        ])
      })

      it('of an op that can never be written is refused, and stops no other', async () => {
        const home = await open()
        const { results } = await home.write(
          '',
          say('m1', { round: 'none' }),
          say('m2'),
          say('m2', { opId: 'again' }),
          remove('o4', 'register:app/note'),
          put('o5', 'o4', 'a'),
          say('m3', { round: 'm2' }),
        )
        expect(results).toEqual([
          { rejected: 'unknown-round' },
          { seq: 1 },
          { rejected: 'duplicate-id' },
          { seq: 2 },
          { rejected: 'deleted' },
          { seq: 3 },
        ])
      })

      it('by two at once is written by one after the other', async () => {
        const home = await open()
        await home.write('', say('m0'))
        const answers = await Promise.all(
          ids('d', 8).map((device) => home.write('', say(device), put(`o-${device}`, null, device))),
        )
        const seqs = answers.flatMap(({ results }) => seqsOf(results.slice(0, 1)) as readonly number[])
        expect(new Set(seqs).size).toBe(8)
        const won = answers.filter(({ results }) => 'seq' in (results[1] as PushResult))
        expect(won).toHaveLength(1)
        expect(await home.all()).toHaveLength(10)
      })

      it('takes an op without the bodies that were forgotten where it comes from', async () => {
        const home = await open()
        const without = (op: Op): SyncOp => ({ ...sealOp(op), bodies: [null] })
        await home.write('', say('m1'))
        const ops = [without(say('m2')), without(put('o3', null, 'a')), put('o4', 'o3', 'b')]
        expect(seqsOf((await home.write('', ...ops)).results)).toEqual([2, 3, 4])
        expect((await home.all()).map(({ bodies }) => bodies)).toEqual([
          [expect.any(String)],
          [null],
          [null],
          ['{"text":"b"}'],
        ])
      })

      it('keeps an op of an unknown kind', async () => {
        const home = await open()
        const envelope = { opId: 'o1', kind: 'share', ids: ['x'] } as unknown as Envelope
        const body = JSON.stringify({ with: 'bob' })
        expect((await home.write('', { envelope, bodies: [body] }, say('m1'))).results).toEqual([
          { seq: 1 },
          { seq: 2 },
        ])
        expect((await home.all())[0]).toMatchObject({ envelope: { opId: 'o1', ids: ['x'] }, bodies: [body] })
      })
    })

    describe('a pull', () => {
      it('of a home that holds nothing is empty', async () => {
        const home = await open()
        expect(await home.pull()).toMatchObject({ from: 0, ops: [], cursor: 0, head: 0 })
        expect(await home.all()).toEqual([])
      })

      it('gives what was pushed, byte for byte, one op a seq', async () => {
        const home = await open()
        const message = (id: string): Message => ({
          id,
          role: 'assistant',
          content: `${id} \u0000 \u2028 "quoted" \\ 👩‍👩‍👧‍👦 שלום`,
          createdAt: 1,
          trust: 'assistant',
        })
        const ops = [
          say('m1'),
          { kind: 'append', opId: 'o2', round: 'm1', messages: [message('m2'), message('m3')] },
          hide('r1', ['m2', 'm3']),
          put('o4', null, 'a'),
          remove('o5', 'attachment:cat'),
        ] as const satisfies readonly Op[]
        await home.write('', ...ops)
        const pulled = await home.all()
        const plain = ({ envelope: { base: _, ...envelope }, bodies }: SyncOp) => ({ envelope, bodies })
        expect(pulled.map(plain)).toEqual(ops.map((op) => plain(sealOp(op))))
      })

      it('goes on page by page, without a gap', async () => {
        const home = await open()
        const all = ids('m', 23)
        await home.write('', ...all.map((id) => say(id)))
        for (const limit of [1, 7, 23, 24, 1_000])
          expect(namesOf(await home.all(limit))).toEqual(all.map((id) => `entry:${id}`))
      })

      it('ends where it is long, and loses nothing of it', async () => {
        const home = await open()
        const all = ids('m', 9)
        for (const id of all) await home.write('', say(id, { text: '海'.repeat(100_000) }))
        const body = encodePull([{ ...home.scope, ...START }])
        const bytes = await (await home.send('pull', body)).arrayBuffer()
        expect(bytes.byteLength).toBeLessThan(1_000_000)
        expect(namesOf(await home.all())).toEqual(all.map((id) => `entry:${id}`))
      })

      it('begins where the replica asks, and tells what the log comes to there', async () => {
        const home = await open()
        const [early, late] = [put('o1', null, 'a'), put('o2', null, 'b', 'app/late')]
        await home.write(
          '',
          early,
          put('o0', null, 'c', 'app/both'),
          ...ids('m', 6).map((id) => say(id)),
          late,
        )
        await home.write('', put('o3', 'o0', 'd', 'app/both'))
        const waiting = ['o1', 'entry:m5', 'entry:other']
        const page = await home.pull({ ...START, start: 6, waiting })
        expect(page).toMatchObject({ from: 6, cursor: 10, head: 10 })
        expect(namesOf(page.ops)).toEqual(['entry:m4', 'entry:m5', 'o2', 'o3'])
        expect(page.start).toEqual({
          ordinal: 4,
          first: 'm0',
          registers: [{ key: 'app/note', version: 'o1', seq: 1, body: '{"text":"a"}' }],
          marks: [],
          arrived: ['o1'],
        })
        const other = await home.pull({ ...placeIn(page), start: 8 })
        expect(namesOf(other.ops)).toEqual(['o2', 'o3'])
        expect(other).toMatchObject({ from: 8, start: { ordinal: 6, arrived: [] } })
        const none = await home.pull({ ...placeIn(page), start: 10 })
        expect(none).toMatchObject({ from: 10, ops: [], start: { ordinal: 6 } })
        const all = await home.pull({ ...placeIn(page), start: 0 })
        expect(all).toMatchObject({ from: 0, start: { ordinal: 0, registers: [], marks: [] } })
        expect(all.ops).toHaveLength(10)
        const first = await home.pull({ ...START, start: 0 })
        expect(first.start).toBe(undefined)
        expect(namesOf(first.ops)).toEqual(namesOf(all.ops))
      })

      it('begins with the newest, by their bytes and by when they were written', async () => {
        const home = await open()
        const days = ids('m', 6).map((id, day) => say(id, { createdAt: 1_790_000_000_000 + day }))
        await home.write('', ...days, put('o1', null, 'a'))
        const from = async (start: Newest) => (await home.pull({ ...START, start })).from
        expect(await from({ bytes: 1 })).toBe(5)
        expect(await from({ bytes: 1, since: 0 })).toBe(5)
        expect(await from({ since: 1_790_000_000_004 })).toBe(4)
        expect(await from({ bytes: 100_000, since: 1_790_000_000_002 })).toBe(2)
        expect(await from({ since: 1_790_000_000_009 })).toBe(6)
        expect(await from({ bytes: 100_000 })).toBe(0)
      })

      it('that begins elsewhere is a reset, too, where the replica is of another log', async () => {
        const home = await open()
        const { generation } = await home.write('', ...ids('m', 6).map((id) => say(id)))
        const wrong = { generation, cursor: 4, anchor: 'another', start: 4 }
        expect(await home.ask(wrong)).toEqual({ reset: 'diverged', generation })
        await home.push(generation, erase('e1'))
        expect(await home.ask({ ...wrong, cursor: 0, anchor: '' })).toMatchObject({ reset: 'erased' })
      })

      it('that begins elsewhere has nothing of what was forgotten', async () => {
        const home = await open()
        await home.write('', ...ids('m', 4).map((id) => say(id)), put('o1', null, 'a secret', 'app/gone'))
        await home.write('', remove('d1', 'entry:m2'), remove('d2', 'register:app/gone'), say('m4'))
        const page = await home.pull({ ...START, start: 2 })
        expect(JSON.stringify(page)).not.toMatch(/Text of m2|a secret/)
        expect(page.start?.registers).toEqual([])
        expect((await home.pull({ ...START, start: 7 })).start?.registers).toEqual([])
      })

      it('names only the ops that are known', async () => {
        const home = await open()
        await home.write('', ...ids('m', 5).map((id) => say(id)))
        const { ops } = await home.pull({
          ...START,
          known: [
            { from: 1, to: 2 },
            { from: 4, to: 4 },
          ],
        })
        expect(namesOf(ops)).toEqual(ids('entry:m', 5))
        expect(ops.map((op) => 'envelope' in op)).toEqual([false, false, true, false, true])
      })

      it('gives a register its value at the put that wrote it last', async () => {
        const home = await open()
        await home.write('', put('o1', null, 'a'), put('o2', 'o1', 'b'))
        expect((await home.all()).map(({ bodies }) => bodies)).toEqual([[null], ['{"text":"b"}']])
      })

      it('of a place that is not in the log says that it went apart', async () => {
        const home = await open()
        await home.write('', say('m1'), say('m2'))
        const { generation, anchor } = await home.pull({ ...START, limit: 1 })
        const places: PullRequest[] = [
          { generation, cursor: 1, anchor: 'other' },
          { generation, cursor: 2, anchor },
          { generation, cursor: 9, anchor },
          { generation: 'other', cursor: 1, anchor },
        ]
        for (const place of places) expect(await home.ask(place)).toEqual({ reset: 'diverged', generation })
        expect(await home.pull({ generation, cursor: 1, anchor })).toMatchObject({ from: 1, cursor: 2 })
      })
    })

    describe('a delete', () => {
      it('empties what is there, for all who come later', async () => {
        const home = await open()
        await home.write('', say('m1'), put('o2', null, 'a'), say('m3'))
        await home.write('', remove('o4', 'entry:m1'), remove('o5', 'register:app/note'))
        const pulled = await home.all()
        expect(pulled.map(({ bodies }) => bodies)).toEqual([[null], [null], [expect.any(String)], [], []])
        expect(JSON.stringify(pulled)).not.toContain('Text of m1')
      })

      it('empties what derives from it', async () => {
        const home = await open()
        const derived: Op = { ...put('o2', null, 'a'), kind: 'put', sources: ['entry:m1'] } as Op
        await home.write('', say('m1'), derived, remove('o3', 'entry:m1'))
        expect((await home.all())[1]?.bodies).toEqual([null])
      })

      it('wins over what arrives after it', async () => {
        const home = await open()
        const { generation } = await home.write(
          '',
          remove('o1', 'entry:m2'),
          remove('o2', 'register:app/note'),
        )
        const { results } = await home.write(generation, say('m2'), put('o4', null, 'a'))
        expect(results[0]).toEqual({ seq: 3 })
        expect(results[1]).toEqual({ rejected: 'deleted' })
        expect((await home.all())[2]?.bodies).toEqual([null])
      })
    })

    describe('a replica', () => {
      const named = (replica: string, page: Page) => ({ ...placeIn(page), replica })
      const toldIn = ({ replicas = [], emptiedAt }: Page) => [
        Object.fromEntries(replicas.map(({ name, seq }) => [name, seq])),
        emptiedAt,
      ]

      it('that tells its name is told who holds nothing of what was deleted', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'), say('m2'))
        const first = await home.pull()
        // Of who names no log, nothing is noted.
        expect(toldIn(await home.pull({ ...START, replica: 'one' }))).toEqual([{}, undefined])
        expect(toldIn(await home.pull(named('one', first)))).toEqual([{ one: 2 }, undefined])
        expect(toldIn(await home.pull(named('two', first)))).toEqual([{ one: 2, two: 2 }, undefined])
        await home.write(generation, remove('d1', 'entry:m1'))
        const page = await home.pull(named('one', first))
        expect(toldIn(page)).toEqual([{ one: 2, two: 2 }, 3])
        expect(toldIn(await home.pull(named('one', page)))).toEqual([{ one: 3, two: 2 }, 3])
        await home.write(generation, say('m3'))
        expect(toldIn(await home.pull(named('two', page)))).toEqual([{ one: 3, two: 3 }, 3])
      })

      it('has confirmed no erase before it names the log after it', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'))
        const before = await home.pull()
        await home.pull(named('one', before))
        await home.pull(named('two', before))
        const erased = await home.push(generation, { kind: 'erase', opId: 'e1' })
        expect(await home.ask(named('one', before))).toMatchObject({ reset: 'erased' })
        const after = { ...START, generation: erased.generation }
        expect(toldIn(await home.pull({ ...after, replica: 'two' }))).toEqual([{ one: -1, two: 0 }, 0])
      })
    })

    describe('an erase', () => {
      it('leaves nothing, and begins a log of another generation', async () => {
        const home = await open()
        const before = await home.write('', say('m1'), put('o2', null, 'a'), remove('o3', 'entry:m9'))
        const place = placeIn(await home.pull())
        const answer = await home.push(before.generation, erase('e1'))
        expect(answer).toEqual({ erased: true, generation: expect.any(String) })
        const { generation } = answer
        expect(generation).not.toBe(before.generation)
        expect(await home.ask(place)).toEqual({ reset: 'erased', generation })
        expect(await home.ask({ ...START, generation: before.generation })).toEqual({
          reset: 'erased',
          generation,
        })
        expect(await home.all()).toEqual([])
        const { results } = await home.write(generation, say('m1'), put('o5', null, 'a'), say('m9'))
        expect(seqsOf(results)).toEqual([1, 2, 3])
        expect(await home.all()).toHaveLength(3)
      })

      it('is told to those who push to the old log, of which nothing is written', async () => {
        const home = await open()
        const { generation: old } = await home.write('', say('m1'))
        const { generation } = await home.push(old, erase('e1'))
        expect(await home.push(old, say('m2'), put('o3', null, 'a'))).toEqual({ erased: true, generation })
        expect(await home.all()).toEqual([])
      })

      it('that is sent again erases nothing of what came since', async () => {
        const home = await open()
        const { generation: old } = await home.write('', say('m1'))
        const { generation } = await home.push(old, erase('e1'))
        await home.write(generation, say('m2'))
        expect(await home.push(old, erase('e1'))).toEqual({ erased: true, generation })
        const again = await home.push(generation, erase('e2'))
        await home.write(again.generation, say('m3'))
        for (const name of [old, generation])
          expect(await home.push(name, erase('e1'), erase('e2'))).toEqual({
            erased: true,
            generation: again.generation,
          })
        expect(namesOf(await home.all())).toEqual(['entry:m3'])
      })

      it('takes ops that were written after it to the new log', async () => {
        const home = await open()
        const { generation: old } = await home.write('', say('m1'))
        const ops = [erase('e1'), say('m2')]
        const { generation } = await home.push(old, ...ops)
        await home.push(old, ...ops)
        expect((await home.write(generation, say('m2'))).results).toEqual([{ seq: 1 }])
        expect(namesOf(await home.all())).toEqual(['entry:m2'])
      })

      it('is not taken from who knows no log', async () => {
        const home = await open()
        await home.write('', say('m1'))
        expect((await home.write('', erase('e1'))).results).toEqual([{ rejected: 'forbidden' }])
        expect(await home.all()).toHaveLength(1)
      })
    })

    describe('a restore to an older state', () => {
      it('is told to those who know more, even if the same was pushed again', async ({ skip }) => {
        const opened = await openHome()
        if (!opened.save) return skip('this home cannot be restored here')
        const home = new Caller(opened)
        await home.write('', say('m1'), say('m2'))
        const kept = await home.pull()
        const restore = await opened.save()
        const { generation } = await home.write(kept.generation, say('m3'))
        const lost = await home.pull()
        await restore()
        expect(await home.ask(placeIn(lost))).toEqual({ reset: 'diverged', generation })
        expect(await home.pull(placeIn(kept))).toMatchObject({ ops: [], head: 2 })
        await home.write(generation, say('m3'))
        expect(await home.ask(placeIn(lost))).toEqual({ reset: 'diverged', generation })
        expect(namesOf((await home.pull(placeIn(kept))).ops)).toEqual(['entry:m3'])
      })

      it('to nothing is told, too', async ({ skip }) => {
        const opened = await openHome()
        if (!opened.save) return skip('this home cannot be restored here')
        const home = new Caller(opened)
        const restore = await opened.save()
        await home.write('', say('m1'))
        const lost = await home.pull()
        await restore()
        expect(await home.ask(placeIn(lost))).toMatchObject({ reset: 'diverged' })
        await home.write(lost.generation, say('m1'))
        expect(await home.ask(placeIn(lost))).toMatchObject({ reset: 'diverged' })
        expect(await home.all()).toHaveLength(1)
      })
    })

    describe('several scopes in one request', () => {
      it('are answered in their order, the same one twice as well', async () => {
        const home = await open()
        const scopes = [{ sessionId: 'a' }, {}, { sessionId: 'b' }, { sessionId: 'a' }]
        const requests = scopes.map((scope, at) => ({
          ...scope,
          generation: '',
          ops: [sealOp(say(`m${at}`)), ...(at === 0 ? [sealOp(say('n'))] : [])],
        }))
        const answers = decodePushAnswers(await textOf(await home.send('push', encodePush(requests))))
        expect([...answers]).toMatchObject([
          { results: [{ seq: 1 }, { seq: 2 }] },
          { results: [{ seq: expect.any(Number) }] },
          { results: [{ seq: 1 }] },
          { results: [{ seq: 3 }] },
        ])
        const pulls = encodePull(scopes.map((scope) => ({ ...scope, ...START })))
        const pages = decodePullAnswers(await textOf(await home.send('pull', pulls))) as readonly Page[]
        expect(pages.map(({ ops }) => namesOf(ops))).toEqual([
          ['entry:m0', 'entry:n', 'entry:m3'],
          expect.arrayContaining(['entry:m1']),
          ['entry:m2'],
          ['entry:m0', 'entry:n', 'entry:m3'],
        ])
      })

      it('take one answer that is not too long, and are all there after a few', async () => {
        const home = await open()
        const scopes = ids('s', 4).map((sessionId) => ({ sessionId }))
        for (const scope of scopes)
          for (const id of ids('m', 3)) await home.in(scope).write('', say(id, { text: 'x'.repeat(150_000) }))
        const body = encodePull(scopes.map((scope) => ({ ...scope, ...START })))
        const text = await textOf(await home.send('pull', body))
        expect(text.length).toBeLessThan(1_400_000)
        const pages = decodePullAnswers(text) as readonly Page[]
        expect(pages.map(({ head }) => head)).toEqual([3, 3, 3, 3])
        for (const scope of scopes) expect(await home.in(scope).all()).toHaveLength(3)
      })
    })

    describe('an attachment', () => {
      const sent = async (response: Response): Promise<unknown> => {
        expect(response.status).toBe(200)
        return ((await response.json()) as { readonly attached: unknown }).attached
      }

      it('comes before the op that names it, which waits until then with all after it', async () => {
        const home = await open()
        const [first, ...others] = [say('m1'), show('m2', 'p'), say('m3')] as const
        const waits = await home.write('', first, ...others)
        expect(waits).toMatchObject({ results: [{ seq: 1 }], head: 1, lacks: ['p'] })
        const { generation } = waits
        expect((await home.attachment('p', generation)).status).toBe(404)
        expect(await sent(await home.attachment('p', generation, picture('p')))).toBe('stored')
        expect(await sent(await home.attachment('p', generation, picture('p')))).toBe('kept')
        const answer = await home.write(generation, ...others)
        expect(answer).toMatchObject({ results: [{ seq: 2 }, { seq: 3 }], head: 3 })
        expect(answer.lacks).toBeUndefined()
        const given = await home.attachment('p', generation)
        expect(given.headers.get('Content-Type')).toBe('image/png')
        expect(given.headers.get('X-Content-Type-Options')).toBe('nosniff')
        expect(new Uint8Array(await given.arrayBuffer())).toEqual(picture('p').bytes)
      })

      it('that nobody has any more holds up no op', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'))
        const request = { ...home.scope, generation, ops: [sealOp(show('m2', 'p'))], without: ['p'] }
        const [answer] = decodePushAnswers(await textOf(await home.send('push', encodePush([request]))))
        expect(answer).toMatchObject({ results: [{ seq: 2 }] })
      })

      it('is of one scope, one user and one log', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'))
        expect(await sent(await home.attachment('p', generation, picture('p')))).toBe('stored')
        const other = home.in({ sessionId: `${home.scope.sessionId}-other` })
        for (const one of [other, home.as(`${home.user}-bob`)]) {
          const known = await one.write('', say('m1'))
          expect((await one.attachment('p', known.generation)).status).toBe(404)
        }
        expect((await home.attachment('p', `${generation}-other`)).status).toBe(409)
        expect(await sent(await home.attachment('q', `${generation}-other`, picture('q')))).toBe('deleted')
        expect((await home.attachment('q', generation)).status).toBe(404)
      })

      it('is gone once it is deleted, or the log erased, and comes back by no repeated call', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'))
        for (const id of ['p', 'q']) await sent(await home.attachment(id, generation, picture(id)))
        await home.write(generation, show('m2', 'p'), show('m3', 'q'), remove('d1', 'attachment:p'))
        expect((await home.attachment('p', generation)).status).toBe(404)
        expect(await sent(await home.attachment('p', generation, picture('p')))).toBe('deleted')
        const erased = await home.push(generation, erase('e1'))
        for (const known of [generation, erased.generation])
          expect((await home.attachment('q', known)).status).toBe(404)
        expect(await sent(await home.attachment('q', generation, picture('q')))).toBe('deleted')
      })

      it('is refused with other bytes under its id, without a type, and where it is too large', async () => {
        const home = await open()
        const { generation } = await home.write('', say('m1'))
        await sent(await home.attachment('p', generation, picture('p')))
        const other = await home.attachment('p', generation, picture('p', 30))
        expect([other.status, await problemIn(other)]).toEqual([409, 'ERR_DUPLICATE_ID'])
        const bad = await home.attachment('q', generation, { ...picture('q'), mediaType: 'picture' })
        expect([bad.status, await problemIn(bad)]).toEqual([400, 'ERR_INVALID_ARGUMENT'])
        const large = await home.attachment('q', generation, picture('q', 8 * 2 ** 20 + 4_097))
        expect([large.status, await problemIn(large)]).toEqual([413, 'ERR_ENTRY_TOO_LARGE'])
        expect((await home.attachment('q', generation)).status).toBe(404)
      })
    })

    describe('a user', () => {
      it('reaches nothing of another one, whatever the ids', async () => {
        const ada = await open()
        const bob = ada.as(`${ada.user}-bob`)
        await ada.write('', say('m1', { text: 'a secret of Ada' }), put('o2', null, 'secret'))
        const place = placeIn(await ada.pull())
        expect(await bob.all()).toEqual([])
        expect(await bob.ask(place)).toMatchObject({ reset: 'diverged' })
        expect((await bob.write('', say('m1', { text: 'Bob' }), put('o2', null, 'b'))).results).toEqual([
          { seq: 1 },
          { seq: 2 },
        ])
        await bob.push((await bob.pull()).generation, erase('e1'))
        expect(JSON.stringify(await ada.all())).toContain('a secret of Ada')
      })

      it('has sessions that know nothing of each other', async () => {
        const home = await open()
        await home.write('', say('m1'))
        const other = home.in({ sessionId: `${home.scope.sessionId}-other` })
        expect(await other.all()).toEqual([])
        expect((await other.write('', say('m1'))).results).toEqual([{ seq: 1 }])
      })

      it('who proves nothing is refused', async () => {
        const home = await open()
        const push = encodePush([{ ...home.scope, generation: '', ops: [sealOp(say('m1'))] }])
        const response = await home.send('push', push, {})
        expect(response.status).toBe(401)
        expect(await problemIn(response)).toBe('ERR_UNAUTHENTICATED')
        expect(await home.all()).toEqual([])
      })
    })

    describe('a request', () => {
      const refused = async (response: Response, status: number, code: string) => {
        expect(await problemIn(response)).toBe(code)
        expect(response.status).toBe(status)
      }

      it('of another version is refused as such', async () => {
        const home = await open()
        const [push, pull] = [
          encodePush([{ ...home.scope, generation: '', ops: [sealOp(say('m1'))] }]),
          encodePull([{ ...home.scope, ...START }]),
        ].map((body) => body.replace(`"proto":${SYNC_PROTOCOL}`, `"proto":${SYNC_PROTOCOL + 1}`))
        await refused(await home.send('push', push as string), 426, 'ERR_UPGRADE_REQUIRED')
        await refused(await home.send('pull', pull as string), 426, 'ERR_UPGRADE_REQUIRED')
        expect(await home.all()).toEqual([])
      })

      it('that is malformed is refused whole', async () => {
        const home = await open()
        const { scope } = home
        const good = { id: 'm1', body: JSON.parse(sealOp(say('m1')).bodies[0] as string) as unknown }
        const bodies: unknown[] = [
          { ...good, id: '' },
          { ...good, id: 'x'.repeat(257) },
          { ...good, id: '\ud800' },
          { ...good, body: undefined },
          { op: 'o', put: 7, body: 1 },
          { op: 'o', delete: 'x' },
          'op',
          null,
        ].map((bad) => ({
          proto: SYNC_PROTOCOL,
          scopes: [{ session: scope.sessionId, generation: '', ops: [good, bad] }],
        }))
        for (const body of [...bodies, {}, [], null, { proto: SYNC_PROTOCOL, scopes: [{ session: '' }] }])
          await refused(await home.send('push', JSON.stringify(body)), 400, 'ERR_INVALID_ARGUMENT')
        for (const body of ['', '{', 'null', `${'['.repeat(50_000)}${']'.repeat(50_000)}`])
          for (const call of ['push', 'pull'] as const)
            await refused(await home.send(call, body), 400, 'ERR_INVALID_ARGUMENT')
        expect(await home.all()).toEqual([])
      })

      it('with more ops or scopes than there may be is refused', async () => {
        const home = await open()
        const ops = ids('m', PUSH_OPS + 1).map((id) => sealOp(say(id)))
        const push = encodePush([{ ...home.scope, generation: '', ops }])
        await refused(await home.send('push', push), 400, 'ERR_INVALID_ARGUMENT')
        const scopes = ids('s', SYNC_SCOPES + 1).map((sessionId) => ({ sessionId, ...START }))
        await refused(await home.send('pull', encodePull(scopes)), 400, 'ERR_INVALID_ARGUMENT')
        expect(await home.all()).toEqual([])
      })

      it('that is too long is refused', async () => {
        const home = await open()
        const push = encodePush([
          { ...home.scope, generation: '', ops: [sealOp(say('m1', { text: 'x'.repeat(9 * 2 ** 20) }))] },
        ])
        await refused(await home.send('push', push), 413, 'ERR_ENTRY_TOO_LARGE')
        expect(await home.all()).toEqual([])
      })

      it('of as much as there may be is answered', async () => {
        const home = await open()
        const ops = ids('m', PUSH_OPS).map((id) => say(id, { text: '海'.repeat(2_000) }))
        const { results } = await home.write('', ...ops)
        expect(seqsOf(results)).toEqual(ids('', PUSH_OPS).map((at) => Number(at) + 1))
        for (let at = PUSH_OPS; at < PAGE_ROWS + 100; at += PUSH_OPS)
          await home.write('', ...ids(`n${at}-`, PUSH_OPS).map((id) => say(id)))
        expect((await home.all()).length).toBeGreaterThan(PAGE_ROWS)
      })
    })
  })
}

async function problemIn(response: Response): Promise<unknown> {
  expect(response.headers.get('Content-Type')).toContain('application/problem+json')
  return ((await response.json()) as { readonly code?: unknown }).code
}
