/** Devices that have the newest part of a session, over real stores and the real client. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import {
  charsPerToken,
  createMemory,
  editMessage,
  exportFrom,
  facts,
  forget,
  mapStore,
  recall,
  standard,
  toOpenAI,
} from '../../../src/index.ts'
import { sealMessage } from '../../../src/kernel/log/message.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { LogStart } from '../../../src/ports/sync.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { type KeepLocalOptions, keepLocal, refusalsOf } from '../../../src/sync/index.ts'
import { erase, names, put } from '../../contract/samples.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'
import {
  ADA,
  device,
  idsOf,
  type Link,
  logOf,
  offline,
  outboxOf,
  refusing,
  TestHome,
  TRIP,
  write,
} from '../support/synced.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

/** More than a session reads at once. */
const OPS = 100
const DAY_MS = 86_400_000
const NOW = 1_790_000_000_000
/** So many bytes are those of {@link OPS} messages that have three digits each. */
const BYTES = OPS * sealMessage({ id: 'm100', ...textAt(100), createdAt: NOW, trust: 'user' }).length

function textAt(at: number) {
  return { role: 'user', content: `Text ${at}` } as const
}

/** A home whose log has that many messages, each a round of its own. */
async function homeWith(messages: number, home = new TestHome(), from = 0): Promise<TestHome> {
  const session = createMemory({ store: storeOf(home), budget: 4_000 }).session(TRIP)
  for (let at = from; at < messages; at++) await session.append({ id: `m${at}`, ...textAt(at) })
  await session.close()
  return home
}

function storeOf(home: TestHome): Store {
  const { store } = home
  return {
    open: (scope) => home.open(scope),
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
  }
}

function partial(home: TestHome, store: Store = mapStore()) {
  const made = device(home, { store, keep: keepLocal({ bytes: BYTES }) })
  const session = memoryOf(made.store).session(TRIP)
  onTestFinished(() => session.close())
  return { ...made, session }
}

function memoryOf(store: Store) {
  return createMemory({ store, budget: 400, counter: charsPerToken(4) })
}

/** A loop of requests without a pause would never end in this process. */
function bounded(home: TestHome, link: Link): void {
  const { push } = link
  const most = home.calls.length + 200
  link.push = (requests, signal) => (home.calls.length < most ? push(requests, signal) : offline())
}

/** Changes what the home says of where a log begins. */
function starting(link: Link, change: (start: LogStart) => LogStart): void {
  const { pull } = link
  link.pull = async (requests, signal) => {
    const answers = await pull(requests, signal)
    return answers.map((one) => ('start' in one && one.start ? { ...one, start: change(one.start) } : one))
  }
}

/** Registers of more bytes than one answer has. */
function largePuts(): readonly SealedOp[] {
  return names('large', 31).map((key) => put(`put-${key}`, key, null, { body: 'x'.repeat(30_000) }))
}

it.each<[string, () => Store]>([
  ['maps', mapStore],
  ['SQLite', () => files.open()],
])(
  'a new device fetches the newest ops alone, and older ones when they are read, over %s',
  async (_, open) => {
    const home = await homeWith(500)
    const { store, base, session } = partial(home, open())
    await store.settled()
    const part = await idsOf(base)
    expect(part).toHaveLength(OPS)
    expect(part.at(-1)).toBe('m499')
    const newest = await session.history({ messages: 20 })
    expect(newest.map(({ id }) => id)).toEqual(part.slice(-20))
    expect(await idsOf(base)).toEqual(part)

    const older = await session.history({ messages: 150 })
    expect(older.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, at) => `m${350 + at}`))
    expect((await idsOf(base)).length).toBeLessThan(500)

    const all = await session.history({ messages: 1_000 })
    expect(all).toHaveLength(500)
    expect(await logOf(base)).toEqual(await logOf(home.store))
  },
)

it('contexts are those of the home, to the byte', async () => {
  const home = await homeWith(300)
  const { store, base, session } = partial(home)
  await store.settled()
  const here = await session.context()
  expect((await idsOf(base)).length).toBeLessThan(OPS + 5)
  await store.settled()
  const there = await memoryOf(storeOf(home)).session(TRIP).context()
  expect(there.epoch).toBe(here.epoch)
  expect(toOpenAI(there)).toEqual(toOpenAI(here))
})

it('what needs older rows says so where they cannot be fetched, and nothing is written', async () => {
  const home = await homeWith(300)
  const { store, link, base, session } = partial(home)
  await store.settled()
  link.pull = offline
  link.push = offline
  const before = await logOf(base)
  await expect(session.history({ messages: 150 })).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  await expect(
    session.append({ role: 'assistant', content: 'Late.' }, { round: 'm3' }),
  ).rejects.toMatchObject({
    code: 'ERR_OFFLINE',
  })
  expect(await logOf(base)).toEqual(before)
  await session.append({ id: 'here', role: 'user', content: 'Written offline.' })
  expect((await session.history({ messages: 5 })).at(-1)?.id).toBe('here')
  store.pause()
  await expect(session.history({ messages: 150 })).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
})

it('a message that shows is edited without what is older, once, and offline too', async () => {
  const home = await homeWith(500)
  const { store, base, link, session } = partial(home)
  await store.settled()
  const { length } = await idsOf(base)
  const { pull } = link
  link.pull = offline
  const edit = (id: string, other: string) => editMessage(session, id, { id: other, ...textAt(500) })
  await expect(edit('m499', 'new')).resolves.toMatchObject({ repeated: false })
  await expect(edit('new', 'newer')).resolves.toMatchObject({ repeated: false })
  await expect(edit('new', 'newer')).resolves.toMatchObject({ repeated: true })
  await expect(edit('m499', 'new')).resolves.toMatchObject({ repeated: true })
  expect((await session.history({ messages: 2 })).map(({ id }) => id)).toEqual(['m498', 'newer'])
  expect(await idsOf(base)).toHaveLength(length + 4)
  link.pull = pull
  store.resume()
  await store.settled()
  const shown = await memoryOf(storeOf(home)).session(TRIP).history({ messages: 2 })
  expect(shown.map(({ id }) => id)).toEqual(['m498', 'newer'])
})

it('over a home that holds ciphertext alone it is the same', async () => {
  const home = new TestHome()
  const keys = secretKeys('a secret of this test, of 32 bytes or more')
  const whole = device(home)
  const writer = memoryOf(encryptedStore(whole.store, keys)).session(TRIP)
  for (let at = 0; at < 300; at++) await writer.append({ id: `m${at}`, role: 'user', content: `Text ${at}` })
  await whole.store.settled()
  const { store, base } = partial(home)
  const session = memoryOf(encryptedStore(store, keys)).session(TRIP)
  await store.settled()
  expect((await session.history({ messages: 20 })).at(-1)).toMatchObject({ id: 'm299', content: 'Text 299' })
  expect((await idsOf(base)).length).toBeLessThan(OPS + 5)
  const here = await session.context()
  await store.settled()
  home.poke()
  await whole.store.settled()
  expect(toOpenAI(await writer.context())).toEqual(toOpenAI(here))
  expect(await session.history({ messages: 1_000 })).toHaveLength(300)
  await session.close()
  await writer.close()
})

it('a message joins a round that is at home alone', async () => {
  const home = await homeWith(300)
  const { store, session } = partial(home)
  await store.settled()
  await session.append({ id: 'late', role: 'assistant', content: 'Late.' }, { round: 'm3' })
  await store.settled()
  expect((await idsOf(home.store)).at(-1)).toBe('late')
  expect((await refusalsOf(store).of(TRIP)).length).toBe(0)
})

it('older rows leave the device once twice as many bytes are here, and what waits stays', async () => {
  const home = await homeWith(100 + OPS, undefined, 100)
  const { store, link, base, session } = partial(home)
  await store.settled()
  await homeWith(100 + 2 * OPS - 1, home, 100 + OPS)
  home.poke()
  await store.settled()
  expect(await idsOf(base)).toHaveLength(2 * OPS - 1)
  const { push } = link
  link.push = refusing('ERR_STORAGE')
  await session.append({ id: 'waits', role: 'user', content: 'Not sent yet.' })
  await homeWith(100 + 2 * OPS, home, 100 + 2 * OPS - 1)
  home.poke()
  await expect.poll(async () => (await idsOf(base)).length).toBe(2 * OPS + 1)
  await homeWith(101 + 2 * OPS, home, 100 + 2 * OPS)
  home.poke()
  await expect.poll(async () => (await idsOf(base)).length).toBe(OPS + 2)
  expect((await idsOf(base)).at(-1)).toBe('waits')
  expect(await outboxOf(base)).toBe(1)
  link.push = push
  store.resume()
  await store.settled()
  expect((await idsOf(home.store)).at(-1)).toBe('waits')
  expect(await outboxOf(base)).toBe(0)
})

/** A home with a message of each of so many days, the newest of them today. */
async function homeOfDays(days: number): Promise<TestHome> {
  const home = new TestHome()
  const session = memoryOf(storeOf(home)).session(TRIP)
  for (let day = 0; day < days; day++)
    await session.append({ id: `m${day}`, ...textAt(day), createdAt: NOW - (days - 1 - day) * DAY_MS })
  await session.close()
  return home
}

/** A device with a clock of its own, which keeps a part. */
function partialAt(home: TestHome, keep: KeepLocalOptions, clock: { now: number }) {
  const made = device(home, { keep: keepLocal(keep), host: { ...webHost, now: () => clock.now } })
  const opened = made.store.open(TRIP)
  onTestFinished(() => opened.close())
  return made
}

it('a new device fetches the newest days, and what is twice as old leaves', async () => {
  const home = await homeOfDays(300)
  const clock = { now: NOW + 1 }
  const { store, base } = partialAt(home, { days: 30 }, clock)
  await store.settled()
  expect(await idsOf(base)).toEqual(Array.from({ length: 30 }, (_, at) => `m${270 + at}`))
  clock.now += 30 * DAY_MS
  home.poke()
  await store.settled()
  expect(await idsOf(base)).toHaveLength(30)
  await homeWith(340, home, 300)
  clock.now += DAY_MS
  home.poke()
  await store.settled()
  expect(await idsOf(base)).toEqual(Array.from({ length: 41 }, (_, at) => `m${299 + at}`))
})

it('of bytes and days the fewer are here', async () => {
  const home = await homeOfDays(300)
  const clock = { now: NOW + 1 }
  for (const [keep, count] of [
    [{ days: 30, bytes: BYTES }, 30],
    [{ days: 200, bytes: BYTES }, OPS],
    [{ days: 400 }, 300],
  ] as const) {
    const { store, base } = partialAt(home, keep, clock)
    await store.settled()
    expect(await idsOf(base)).toHaveLength(count)
  }
})

it('how much is here is counted on from what is new', async () => {
  const home = await homeWith(200)
  const base = mapStore()
  let read = 0
  const open: Store['open'] = (scope) => {
    const opened = base.open(scope)
    const changesSince: typeof opened.changesSince = async (seq) => {
      const changes = await opened.changesSince(seq)
      read += changes.rows.length
      return changes
    }
    return new Proxy(opened, {
      get: (target, name) => {
        const value: unknown = name === 'changesSince' ? changesSince : Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  const { store } = device(home, { store: { ...base, open }, keep: keepLocal({ bytes: 10 * BYTES }) })
  const opened = store.open(TRIP)
  onTestFinished(() => opened.close())
  await store.settled()
  home.poke()
  await store.settled()
  expect(read).toBeGreaterThanOrEqual(200)
  read = 0
  for (let at = 200; at < 205; at++) {
    await homeWith(at + 1, home, at)
    home.poke()
    await store.settled()
  }
  expect(read).toBeLessThan(20)
})

it('days cannot be told where messages are encrypted: nothing is fetched, and the cause says so', async () => {
  const home = new TestHome()
  const keys = secretKeys('a secret of this test, of 32 bytes or more')
  const whole = device(home)
  const writer = memoryOf(encryptedStore(whole.store, keys)).session(TRIP)
  await writer.append({ role: 'user', content: 'Hi.' })
  await whole.store.settled()
  await writer.close()
  const { store, base } = partialAt(home, { days: 30 }, { now: NOW })
  await expect.poll(() => store.status.cause).toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  expect(await idsOf(base)).toEqual([])
})

it('a newest op of more than twice the bytes is fetched once', async () => {
  const home = await homeWith(100)
  const session = memoryOf(storeOf(home)).session(TRIP)
  await session.append({ id: 'long', role: 'user', content: 'x'.repeat(3 * BYTES) })
  await session.close()
  const { store, base } = partialAt(home, { bytes: BYTES }, { now: NOW })
  await store.settled()
  expect(await idsOf(base)).toEqual(['long'])
  const before = home.calls.length
  for (let poke = 0; poke < 5; poke++) {
    home.poke()
    await store.settled()
  }
  expect(home.calls.slice(before)).toHaveLength(5)
  expect(JSON.stringify(home.calls.slice(before))).not.toContain('start')
})

it.each([
  ['all of a session', false],
  ['a part of it', true],
])('recall says what was never fetched, and finds it once it was, on a device of %s', async (_, isPart) => {
  const home = new TestHome()
  const use = [...standard(), recall()]
  const told = createMemory({ store: storeOf(home), budget: 16_000, use }).session({
    ...ADA,
    sessionId: 'old',
  })
  await told.append({ role: 'user', content: 'The zanzibar code is 4711.' })
  const { store } = device(home, isPart ? { keep: keepLocal({ bytes: BYTES }) } : {})
  const memory = createMemory({ store, budget: 16_000, use })
  const session = memory.session(TRIP)
  await session.append({ role: 'user', content: 'Hi.' })
  await store.settled()
  const asked = async (sessions: 'all' | readonly string[]) => {
    const { receipt } = await session.context({ recall: { query: 'zanzibar code', sessions } })
    expect(receipt.failures).toEqual([])
    return receipt.remembered?.find(({ name }) => name === 'recall')
  }
  for (const sessions of ['all', ['old']] as const) {
    store.pause()
    expect(await asked(sessions)).toMatchObject({ items: 0, others: { searched: 0, missing: 1 } })
  }
  store.resume()
  await asked('all')
  await store.settled()
  for (const sessions of ['all', ['old']] as const)
    expect(await asked(sessions)).toMatchObject({ items: 1, others: { searched: 1, missing: 0 } })
  await session.close()
})

/** What recall of a context shows of a query, and what failed. */
async function recalled(session: ReturnType<typeof recalling>, query: string, sessions?: 'all') {
  const { receipt } = await session.context({ recall: sessions ? { query, sessions } : query })
  const { items, others } = receipt.remembered?.find(({ name }) => name === 'recall') ?? {}
  return { items, others, failures: receipt.failures.map(({ code }) => code) }
}

function recalling(store: Store) {
  const parts = { budget: 400, counter: charsPerToken(4) }
  const session = createMemory({ store, ...parts, use: [facts(), recall()] }).session(TRIP)
  onTestFinished(() => session.close())
  return session
}

it('recall over a session of which a part is here fetches the rest, or says that it is missing', async () => {
  const home = new TestHome()
  const told = createMemory({ store: storeOf(home), budget: 16_000, use: standard() })
  const old = told.session({ ...ADA, sessionId: 'old' })
  await old.append({ role: 'user', content: 'The zanzibar code is 4711.' })
  for (let at = 0; at < 2 * OPS; at++) await old.append({ ...textAt(at) })
  const { store, base } = device(home, { keep: keepLocal({ bytes: BYTES }) })
  const opened = store.open({ ...ADA, sessionId: 'old' })
  const session = recalling(store)
  await session.append({ role: 'user', content: 'Hi.' })
  await store.settled()
  const isWhole = async () => (await base.open({ ...ADA, sessionId: 'old' }).head()).ordinal
  store.pause()
  expect(await recalled(session, 'zanzibar code', 'all')).toMatchObject({
    items: 0,
    others: { searched: 0, missing: 1 },
    failures: [],
  })
  const across = createMemory({ store, budget: 400, use: [facts(), recall()] }).user(ADA)
  const found = () => across.recall.find('zanzibar code', { sessions: ['old'] })
  await expect(found()).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  store.resume()
  expect(await found()).not.toEqual([])
  expect(await recalled(session, 'zanzibar code', 'all')).toMatchObject({
    items: 2,
    others: { searched: 1, missing: 0 },
  })
  expect(await isWhole()).toBe(2 * OPS + 1)
  store.pause()
  expect(await recalled(session, 'zanzibar code', 'all')).toMatchObject({ items: 2 })
  await opened.close()
})

it('recall over a part of its own session says in the receipt that the rest cannot be fetched', async () => {
  const home = await homeWith(300)
  const { store } = partial(home)
  await store.settled()
  store.pause()
  const session = recalling(store)
  expect(await recalled(session, 'text 7')).toMatchObject({ failures: ['ERR_OFFLINE'] })
  await expect(session.recall.find('text 7')).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  store.resume()
  expect(await recalled(session, 'text 7')).toMatchObject({ failures: [] })
})

it('an export of a session of which a part is here is that of all, or none', async () => {
  const home = await homeWith(300)
  const { store } = partial(home)
  await store.settled()
  const linesOf = async (from: Store) => {
    const lines: string[] = []
    for await (const line of exportFrom(memoryOf(from), TRIP)) lines.push(line)
    return lines
  }
  store.pause()
  await expect(linesOf(store)).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  store.resume()
  expect(await linesOf(store)).toEqual(await linesOf(storeOf(home)))
})

it('a window of the standard features needs no older rows; recall needs all, and fetches it', async () => {
  const home = await homeWith(300)
  const { store, base } = partial(home)
  await store.settled()
  const options = { store, budget: 400, counter: charsPerToken(4) }
  const session = createMemory({ ...options, use: standard() }).session(TRIP)
  await session.append({ role: 'user', content: 'What was text 7?' })
  await session.context()
  expect((await idsOf(base)).length).toBeLessThan(OPS + 10)
  await session.close()
  const recalling = createMemory({ ...options, use: [facts(), recall()] }).session(TRIP)
  const [found] = await recalling.recall.find('text 7')
  expect(found).toMatchObject({ text: 'Text 7' })
  expect((await idsOf(base)).length).toBeGreaterThan(300)
  await recalling.close()
})

it('what the home has before the part settles as the home has it, and is shown once', async () => {
  const home = await homeWith(300)
  const { store, base, link, session } = partial(home)
  await store.settled()
  bounded(home, link)
  const before = home.calls.length
  await session.append({ id: 'm3', role: 'user', content: 'Text 3' })
  await session.append({ id: 'new', role: 'user', content: 'A new one.' })
  await store.settled()
  expect(home.calls.length - before).toBeLessThan(10)
  expect(await outboxOf(base)).toBe(0)
  expect((await session.history({ messages: 2 })).map(({ id }) => id)).toEqual(['m299', 'new'])
  expect(await session.history({ messages: 1_000 })).toHaveLength(301)
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

it('a name that the home has for something else is refused, and the app sees it', async () => {
  const home = await homeWith(300)
  const { store, base, link, session } = partial(home)
  await store.settled()
  bounded(home, link)
  await session.append({ id: 'm3', role: 'user', content: 'Another.' }, { opId: 'another' })
  await store.settled()
  expect(await refusalsOf(store).of(TRIP)).toMatchObject([{ refusal: { rejected: 'duplicate-id' } }])
  expect((await idsOf(base)).at(-1)).toBe('m299')
})

it('a home that says again and again that it has what it does not show is asked less often', async () => {
  const home = await homeWith(300)
  const { store, base, link, session } = partial(home)
  await store.settled()
  bounded(home, link)
  const before = home.calls.length
  starting(link, (start) => ({ ...start, arrived: [] }))
  await session.append({ id: 'm3', role: 'user', content: 'Text 3' })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(home.calls.length - before).toBeLessThan(100)
  expect(await outboxOf(base)).toBe(1)
})

it('a home that says that what it was not asked about arrived takes nothing away', async () => {
  const home = await homeWith(300)
  const { store, base, link, session } = partial(home)
  await store.settled()
  link.push = refusing('ERR_STORAGE')
  starting(link, (start) => ({ ...start, arrived: ['entry:mine'] }))
  await session.append({ id: 'mine', role: 'user', content: 'Not sent yet.' })
  const before = await logOf(base)
  await expect(session.history({ messages: 150 })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  expect(await logOf(base)).toEqual(before)
  expect(await outboxOf(base)).toBe(1)
})

it.each([0, 1])(
  'a home that never comes to the end of its log, %i a page, is asked less often',
  async (step) => {
    const home = await homeWith(300)
    const { link, base, session } = partial(home)
    const { pull } = link
    const most = home.calls.length + 200
    link.pull = async (requests, signal) => {
      if (home.calls.length >= most) return offline()
      const answers = await pull(requests, signal)
      return answers.map((one) =>
        'ops' in one ? { ...one, cursor: one.cursor + (one.start ? 0 : step), head: one.head + 1_000 } : one,
      )
    }
    await session.history({ messages: 1 })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(home.calls.length).toBeLessThan(100)
    expect(await idsOf(base)).toEqual([])
  },
)

const START: LogStart = { ordinal: 0, registers: [], marks: [], arrived: [] }
const NO_STARTS: readonly [start: unknown][] = [
  [{}],
  ['x'],
  [[]],
  [{ ...START, ordinal: '1' }],
  [{ ...START, first: 1 }],
  [{ ...START, registers: {} }],
  [{ ...START, registers: [null] }],
  [{ ...START, registers: [{ key: 'k', version: 'v', seq: 1 }] }],
  [{ ...START, marks: [{ slot: 'summary', id: 'm', seq: 1 }] }],
  [{ ...START, arrived: [1] }],
]

it.each(NO_STARTS)('%j is no start of a log, and nothing is written', async (start) => {
  const home = await homeWith(150)
  const { store, base, link, session } = partial(home)
  await store.settled()
  starting(link, () => start as LogStart)
  const before = await logOf(base)
  await expect(session.history({ messages: 120 })).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  expect(await logOf(base)).toEqual(before)
})

it('what is forgotten is gone here too, whether or not it was here', async () => {
  const home = await homeWith(300)
  const { store, base } = partial(home)
  await store.settled()
  const there = memoryOf(storeOf(home)).session(TRIP)
  await forget(there, 'm299')
  await forget(there, 'm2')
  home.poke()
  await store.settled()
  const rows = await logOf(base)
  expect(rows[0]?.seq).toBeGreaterThan(1)
  expect(rows.find(({ id }) => id === 'm299')?.body).toBe(null)
  const mine = memoryOf(store).session(TRIP)
  expect((await mine.history({ messages: 1_000 })).map(({ id }) => id)).not.toContain('m2')
  expect(await logOf(base)).toEqual(await logOf(home.store))
  await mine.close()
  await there.close()
})

it('an erase leaves nothing to be fetched, before the home knows of it and after', async () => {
  const home = await homeWith(300)
  const { store, base, session } = partial(home)
  await store.settled()
  store.pause()
  await write(store, [erase('e1')])
  expect(await session.history({ messages: 500 })).toEqual([])
  await session.append({ id: 'new', role: 'user', content: 'After it.' })
  expect((await session.history({ messages: 500 })).map(({ id }) => id)).toEqual(['new'])
  store.resume()
  await store.settled()
  expect((await session.history({ messages: 500 })).map(({ id }) => id)).toEqual(['new'])
  expect((await idsOf(home.store)).at(-1)).toBe('new')
  expect(await idsOf(base)).not.toContain('m299')
})

it('a tab fetches what another one lets go of while it reads', async () => {
  const home = await homeWith(300)
  const base = mapStore()
  let meanwhile: (() => Promise<unknown>) | undefined
  const { session, store } = partial(home, {
    ...base,
    open: (scope) => {
      const opened = base.open(scope)
      const entries: typeof opened.entries = async (query) => {
        const work = meanwhile
        meanwhile = undefined
        await work?.()
        return opened.entries(query)
      }
      return new Proxy(opened, {
        get: (target, name) => {
          // It is told of nothing.
          if (name === 'watch') return () => () => {}
          const value: unknown = name === 'entries' ? entries : Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  })
  await store.settled()
  expect(await session.history({ messages: 1_000 })).toHaveLength(300)
  meanwhile = async () => {
    const other = partial(home, base)
    await other.session.history({ messages: 1 })
    await other.store.settled()
    expect(await idsOf(base)).toHaveLength(OPS)
    await other.session.close()
    await other.store.close()
  }
  expect(await session.history({ messages: 1_000 })).toHaveLength(300)
})

it('what is fetched of a log that another tab has seen erased meanwhile is dropped', async () => {
  const home = await homeWith(300)
  const base = mapStore()
  const first = partial(home, base)
  await first.store.settled()
  const { pull } = first.link
  first.link.pull = async (requests, signal) => {
    const answers = await pull(requests, signal)
    first.link.pull = offline
    const other = partial(home, base)
    await write({ ...home.store, open: (scope) => home.open(scope) }, [erase('e1')])
    await other.session.history({ messages: 1 })
    await other.store.settled()
    await other.session.close()
    await other.store.close()
    return answers
  }
  expect(await first.session.history({ messages: 1_000 })).toEqual([])
  expect(await idsOf(base)).not.toContain('m299')
})

it('all of a log is fetched again where the app keeps all from now on', async () => {
  const home = await homeWith(300)
  const base = mapStore()
  const { store, session } = partial(home, base)
  await store.settled()
  await session.close()
  await store.close()
  const whole = device(home, { store: base })
  const opened = whole.store.open(TRIP)
  await whole.store.settled()
  expect(await logOf(base)).toEqual(await logOf(home.store))
  await opened.close()
})

it('what the sessions of a user share is here as a whole', async () => {
  const home = new TestHome()
  const there = createMemory({ store: storeOf(home), budget: 4_000, use: standard() }).session(TRIP)
  for (let at = 0; at < 20; at++) await there.facts.remember({ kind: 'preference', text: `Likes ${at}.` })
  const { store } = partial(home)
  const mine = createMemory({ store, budget: 4_000, use: standard() }).session(TRIP)
  store.follow({ userId: 'ada' })
  await store.settled()
  expect(await mine.facts.list()).toHaveLength(20)
  await mine.close()
  await there.close()
})

it('a session of more registers than one answer has is here as a whole', async () => {
  const home = new TestHome()
  await write(storeOf(home), largePuts())
  await homeWith(2 * OPS, home)
  const { store, base } = partial(home)
  const opened = store.open(TRIP)
  onTestFinished(() => opened.close())
  await store.settled()
  expect(await idsOf(base)).toEqual(await idsOf(home.store))
  const calls = home.calls.length
  home.poke({ sessionId: 'trip' })
  await store.settled()
  expect(home.calls.length - calls).toBe(1)
})

it('what is here stays until all is, where registers become too many for one answer', async () => {
  const home = await homeWith(300)
  const { store, base, link } = partial(home)
  const opened = store.open(TRIP)
  onTestFinished(() => opened.close())
  await store.settled()
  await write(storeOf(home), largePuts())
  await homeWith(300 + OPS, home, 300)
  const { pull } = link
  const here: number[] = []
  link.pull = async (requests, signal) => {
    here.push((await idsOf(base)).length)
    return pull(requests, signal)
  }
  home.poke()
  await store.settled()
  // What is too much is to leave, and cannot.
  home.poke()
  await store.settled()
  expect(Math.min(...here)).toBe(OPS)
  expect(await idsOf(base)).toEqual(await idsOf(home.store))
})

it('a message under an id of the home that comes with its first fetch is refused, and kept aside', async () => {
  const home = await homeWith(300)
  const { session, store } = partial(home)
  store.pause()
  const last = (await logOf(home.store)).at(-1)
  const { messages } = await session.append({ id: last?.id ?? '', role: 'user', content: 'Something else.' })
  expect(messages[0]?.id).toBe(last?.id)
  store.resume()
  await store.settled()
  expect((await session.history()).at(-1)).toMatchObject({ id: last?.id, content: textAt(299).content })
  const refused = await refusalsOf(store).of(TRIP)
  expect(refused.map(({ refusal, bodies }) => [refusal, `${bodies}`.includes('Something else.')])).toEqual([
    [{ rejected: 'duplicate-id' }, true],
  ])
  expect(store.status).toMatchObject({ refused: 1 })
})

it('a home that does not know of parts gives all', async () => {
  const home = await homeWith(300)
  const made = device(home, { keep: keepLocal({ bytes: BYTES }) })
  const { pull } = made.link
  made.link.pull = (requests, signal) =>
    pull(
      requests.map(({ start: _, waiting: __, ...request }) => request),
      signal,
    )
  const opened = made.store.open(TRIP)
  await made.store.settled()
  expect(await idsOf(made.base)).toHaveLength(300)
  await opened.close()
})

it.each([
  {},
  { bytes: undefined, days: undefined },
  { bytes: 0 },
  { bytes: 1.5 },
  { bytes: '2000' },
  { days: 0 },
  { days: -1, bytes: 2_000 },
  { days: Number.POSITIVE_INFINITY },
  { days: 100_000_001 },
  { bytes: 2_000, ops: 8 },
])('keepLocal refuses %j', (options) => {
  expect(() => keepLocal(options as KeepLocalOptions)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
  )
})
