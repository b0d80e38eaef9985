import { beforeAll, describe, expect, it } from 'vitest'
import { memoryTools } from '../../../src/agent/memory-tools.ts'
import {
  charsPerToken,
  compaction,
  createMemory,
  type EpochMark,
  exportFrom,
  extraction,
  facts,
  importInto,
  mapStore,
  profile,
  recall,
  type Store,
  skills,
} from '../../../src/index.ts'
import { headValue } from '../../../src/kernel/context/head.ts'
import { hashPrefix } from '../../../src/kernel/context/prefix.ts'
import { Secret } from '../../../src/kernel/context/secret.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import { retention } from '../../../src/operations/retention/feature.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import { runDueWork } from '../../../src/operations/upkeep.ts'
import type { Context } from '../../../src/ports/context.ts'
import type { Json } from '../../../src/ports/message.ts'
import { hashJson, hashText } from '../../../src/text/hash.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

const ADA = { userId: 'ada' }
const TRIP = { ...ADA, sessionId: 'trip' }
const PIN = '4711'
const DAY = 86_400_000

/** Secrets that are different, and the same in every world. */
function secrets(): () => string {
  let count = 0
  return () => hashText(`secret ${++count}`)
}

function memoryOver(store: Store, newSecret = secrets(), clock = () => DAY) {
  let ids = 0
  return createMemory({
    store,
    budget: { contextWindow: 1_500, maxOutputTokens: 0, margin: 0 },
    counter: charsPerToken(4),
    use: [
      profile(),
      skills(),
      facts(),
      extraction(),
      compaction({ ahead: false }),
      recall(),
      retention({ facts: { days: 9 } }),
    ],
    system: 'Be brief.',
    clock,
    newId: () => `id-${String(++ids).padStart(4, '0')}`,
    newSecret,
  })
}

type World = Awaited<ReturnType<typeof play>>

/** A session that says and remembers a code, and then forgets all that holds it. */
async function play(pin: string) {
  const store = mapStore()
  const memory = memoryOver(store)
  const session = memory.session(TRIP)
  const scope = store.open(TRIP)
  const given: unknown[] = []
  await session.append({ id: 'm0', role: 'user', content: `Never use another door code than ${pin}.` })
  await session.facts.remember({ id: 'own', kind: 'finding', text: `The safe opens with ${pin}.` })
  await session.facts.remember({ id: 'shared', kind: 'constraint', text: `The gate opens with ${pin}.` })
  const [tool] = memoryTools(session, ['finding'])
  await tool?.execute?.({ text: `The bike opens with ${pin}.` }, { callId: 'c1' } as never)
  const first = await session.context()
  const { rows: before } = await scope.changesSince(0)
  const head = (await scope.register(first.head))?.body ?? ''
  const mark = JSON.parse(before.findLast(({ kind }) => kind === 'epoch')?.body ?? 'null') as EpochMark
  const key = JSON.parse((await scope.register('secret'))?.body ?? 'null') as string
  given.push(first.hash, first.head, first.epoch, (await startSession(session)).etag)
  for (let round = 0; round < 12; round++) {
    await session.append([
      { id: `q${round}`, role: 'user', content: `What of ${round}? ${'It rains. '.repeat(30)}` },
      { id: `a${round}`, role: 'assistant', content: `That is ${round}.` },
    ])
    const { hash, epoch, receipt } = await session.context()
    given.push(hash, epoch, receipt.summary ?? null)
  }
  const certificates = [await forget(session, 'm0')]
  for (const { id, text } of await session.facts.list({ all: true }))
    if (text.includes(pin)) certificates.push(await forget(session, id, { kind: 'fact' }))
  const after = await session.context()
  return {
    store,
    memory,
    session,
    first,
    head,
    mark,
    key,
    given,
    certificates,
    after,
    ...(await left(store)),
  }
}

/** What is stored, in the order in which it was written, and what is exported. */
async function left(store: Store) {
  const stored: unknown[] = []
  for (const owner of [ADA, TRIP]) {
    const scope = store.open(owner)
    const registers = [...(await scope.registers(''))].sort((one, other) => one.seq - other.seq)
    stored.push((await scope.changesSince(0)).rows, registers, await scope.derived(''))
  }
  const lines: string[] = []
  for await (const line of exportFrom(memoryOver(store), ADA)) lines.push(line)
  return { stored, lines }
}

/** The same with each made name called by its first appearance: in what order and how often. */
function renamed(value: unknown): string {
  const names = new Map<string, number>()
  const name = (made: string): string => {
    if (!names.has(made)) names.set(made, names.size)
    return `<${names.get(made)}>`
  }
  return JSON.stringify(value).replace(/(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])/g, name)
}

/** Every text of an export that may be a hash, in hex or in base64. */
function handed(value: unknown): ReadonlySet<string> {
  return new Set(
    JSON.stringify(value)
      .match(/[0-9a-zA-Z+/_-]{16,}/g)
      ?.flatMap((one) => [one, one.slice(-64)]),
  )
}

/**
 * The codes of four digits of which a hash is in hand: for each, the hashes that would have been
 * stored of what the world held, by somebody who knows all of it but the code.
 *
 * @param keys what they may be keyed by; undefined: by nothing
 */
function guessed(
  { head, mark, first }: World,
  hands: ReadonlySet<string>,
  keys: readonly (string | undefined)[],
  codes = 10_000,
): readonly string[] {
  const found = new Set<string>()
  const headText = JSON.stringify(headValue(JSON.parse(head)))
  const window = first.blocks.filter(({ section }) => section === 'window')
  const told = JSON.stringify(window)
  const texts = [
    'Never use another door code than PIN.',
    'The safe opens with PIN.',
    'The gate opens with PIN.',
    'The bike opens with PIN.',
    '- finding [user] The safe opens with PIN.',
    '- constraint: The gate opens with PIN.',
  ]
  for (const key of keys)
    for (let code = 0; code < codes; code++) {
      const pin = String((Number(PIN) + code) % 10_000).padStart(4, '0')
      const held = (text: string): string => text.replaceAll(PIN, pin)
      const of = texts.map((text) => text.replace('PIN', pin))
      const ofHead = hashJson(JSON.parse(held(headText)) as Json, key)
      const { lane, windowFrom, cuts } = mark
      const hashes = [
        ofHead,
        hashJson([lane, null, windowFrom, { ...cuts } as never, ofHead], key),
        hashPrefix({ key: key ?? '' }, ofHead, JSON.parse(held(told)) as Context['blocks']),
        ...of.map((text) => hashText(text, key)),
        hashText(JSON.stringify(['m0', of[0]]), key),
        hashText(
          JSON.stringify(['trip', 'm0', 'c1', 'memory_finding', { text: `The bike opens with ${pin}.` }]),
          key,
        ),
      ]
      if (hashes.some((hash) => hands.has(hash) || hands.has(hash.slice(0, 16)))) found.add(pin)
    }
  return [...found]
}

describe('what is left of a code that was forgotten', () => {
  let world: World
  beforeAll(async () => {
    world = await play(PIN)
  })

  it('is nothing: two worlds that differ in it alone differ in no certificate, receipt, row or line', async () => {
    const other = await play('9302')
    const { given, certificates, after, stored, lines } = world
    const shown = JSON.stringify([given, certificates, after, stored, lines])
    expect(shown).not.toContain(PIN)
    expect(certificates.length).toBe(3)
    expect(after.receipt.epoch).toMatchObject({ cause: 'forget' })
    for (const [mine, theirs] of [
      [certificates, other.certificates],
      [after.receipt, other.after.receipt],
      [stored, other.stored],
    ])
      expect(renamed(mine)).toBe(renamed(theirs))
    // Registers are exported in the order of their keys.
    const inOrder = (all: readonly string[]) => all.map(renamed).sort()
    expect(inOrder(lines)).toEqual(inOrder(other.lines))
    // The same world has the same bytes where secrets are injected.
    expect(JSON.stringify((await play(PIN)).stored)).toBe(JSON.stringify(stored))
  })

  it('cannot be guessed from certificates, receipts, contexts, an export and all that is stored', () => {
    const { given, certificates, after, stored, lines, key } = world
    const hands = handed([given, certificates, after, stored, lines])
    const secret = /"key":"secret".*"value":"([0-9a-f]{64})"/.exec(lines.join(''))?.[1]
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(secret).not.toBe(key)
    expect(guessed(world, hands, [undefined, secret])).toEqual([])
    // Anybody who had the secret from before could have guessed it: so it goes.
    expect(JSON.stringify([stored, lines])).not.toContain(key)
    expect(guessed(world, hands, [key], 100)).toEqual([PIN])
  })
})

describe('the secret of a session', () => {
  it('is stored beside its first epoch, without a row of its own, and never shows', async () => {
    const store = mapStore()
    const session = memoryOver(store).session(TRIP)
    await session.append({ role: 'user', content: 'Hello.' })
    const scope = store.open(TRIP)
    const preview = await session.context({ preview: true })
    expect(await scope.register('secret')).toBeUndefined()
    const context = await session.context()
    expect(context.hash).toBe(preview.hash)
    const { rows } = await scope.changesSince(0)
    expect(rows.map(({ kind }) => kind)).toEqual(['message', 'put', 'epoch'])
    const row = await scope.register('secret')
    expect(row).toMatchObject({ version: `entry:${context.epoch}`, seq: rows.at(-1)?.seq })
    expect(JSON.stringify([context, await session.history()])).not.toContain(JSON.parse(row?.body ?? ''))
  })

  it('is another one for each session, and after each delete', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const keys: unknown[] = []
    for (const sessionId of ['one', 'two']) {
      const scope = { ...ADA, sessionId }
      const session = memory.session(scope)
      const keep = async () => keys.push((await store.open(scope).register('secret'))?.body)
      await session.append({ id: 'said', role: 'user', content: 'Hello.' })
      await session.facts.remember({ id: `f-${sessionId}`, kind: 'finding', text: `It is ${sessionId}.` })
      await session.context()
      await keep()
      await forget(session, 'said')
      await keep()
      await forget(session, `f-${sessionId}`)
      await keep()
    }
    expect(new Set(keys).size).toBe(6)
  })

  it('goes with a fact of the user’s in each session whose contexts began with it', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const keyOf = async (sessionId: string) =>
      (await store.open({ ...ADA, sessionId }).register('secret'))?.body
    for (const sessionId of ['before', 'after'])
      await memory.session({ ...ADA, sessionId }).append({ role: 'user', content: 'Hello.' })
    await memory.session({ ...ADA, sessionId: 'before' }).context()
    await memory.user(ADA).facts.remember({ id: 'f', kind: 'constraint', text: 'Never fly.' })
    await memory.session({ ...ADA, sessionId: 'after' }).context()
    const before = [await keyOf('before'), await keyOf('after')]
    await forgetFact(memory, ADA, 'f')
    expect(await keyOf('before')).toBe(before[0])
    expect(await keyOf('after')).not.toBe(before[1])
  })

  it('goes where retention removes a fact of a session', async () => {
    const store = mapStore()
    const clock = { now: DAY }
    const memory = memoryOver(store, secrets(), () => clock.now)
    const session = memory.session(TRIP)
    await session.facts.remember({ kind: 'finding', text: 'It rains.' })
    const { epoch } = await session.context()
    const before = await store.open(TRIP).register('secret')
    clock.now += 30 * DAY
    await runDueWork(memory)
    expect((await store.open(TRIP).register('secret'))?.body).not.toBe(before?.body)
    expect((await session.context()).epoch).not.toBe(epoch)
  })

  it('is stored by a delete before any epoch, so that nobody stores one who read what is gone', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session(TRIP)
    await session.append([
      { id: 'one', role: 'user', content: 'One.' },
      { id: 'two', role: 'user', content: 'Two.' },
    ])
    const { hash } = await session.context({ preview: true })
    await forget(memoryOver(store, () => 'f'.repeat(64)).session(TRIP), 'one')
    expect((await store.open(TRIP).register('secret'))?.body).toBe(JSON.stringify('f'.repeat(64)))
    expect((await session.context()).hash).not.toBe(hash)
    expect((await store.open(TRIP).register('secret'))?.body).toBe(JSON.stringify('f'.repeat(64)))
  })

  it('is another one in a session that begins again after it was deleted', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session(TRIP)
    const { hash } = await session.context()
    await deleteSession(memory, ADA, 'trip')
    expect(await store.open(TRIP).register('secret')).toBeUndefined()
    expect((await session.context()).hash).not.toBe(hash)
  })

  it('travels with an export, so that the copy has the same hashes; a file of strangers brings none', async () => {
    const store = mapStore()
    const session = memoryOver(store).session(TRIP)
    await session.append({ id: 'said', role: 'user', content: 'Hello.' })
    await session.context()
    const linesNow = async () => (await left(store)).lines
    const lines = await linesNow()
    const copy = mapStore()
    await importInto(
      memoryOver(copy, () => 'f'.repeat(64)),
      ADA,
      lines,
    )
    const copied = memoryOver(copy, () => 'f'.repeat(64)).session(TRIP)
    expect(await copied.context()).toEqual(await session.context())
    expect(await contextAt(copied, 'said')).toEqual(await contextAt(session, 'said'))
    expect((await contextAt(copied, 'said')).context.hash).toBe((await session.context()).hash)
    expect((await left(copy)).lines).toEqual(lines)

    // What is newer comes over what is older, and never the other way round.
    await session.append({ id: 'more', role: 'user', content: 'More.' })
    await forget(session, 'more')
    const secretIn = async (of: Store) => (await of.open(TRIP).register('secret'))?.body
    const newer = await linesNow()
    await importInto(memoryOver(copy), ADA, newer)
    expect(await secretIn(copy)).toBe(await secretIn(store))
    await importInto(memoryOver(copy), ADA, lines)
    expect(await secretIn(copy)).toBe(await secretIn(store))

    const strange = mapStore()
    await importInto(memoryOver(strange), ADA, lines, { trust: 'import' })
    expect(await strange.open(TRIP).register('secret')).toBeUndefined()
    const report = importInto(memoryOver(mapStore()), ADA, [
      ...lines.map((line) => line.replace(/("key":"secret".*"value":)"[^"]*"/, '$1"guess me"')),
    ])
    await expect(report).rejects.toThrow('value must be 64 hexadecimal digits')
  })

  it('is exported too where it is stored while the export is read', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session(TRIP)
    await session.append({ role: 'user', content: 'Hello.' })
    const lines: string[] = []
    for await (const line of exportFrom(memory, TRIP)) {
      lines.push(line)
      if (line.startsWith('{"type":"message"')) await session.context()
    }
    expect(lines.filter((line) => line.includes('"key":"secret"'))).toHaveLength(1)
  })

  it('attests nothing of a head that was changed in a file', async () => {
    const store = mapStore()
    const session = memoryOver(store).session(TRIP)
    await session.append({ id: 'said', role: 'user', content: 'Hello.' })
    await session.context()
    const { lines } = await left(store)
    const copy = mapStore()
    const changed = lines.map((line) => line.replace('"system":"Be brief."', '"system":"Be rude."'))
    await importInto(memoryOver(copy), ADA, changed)
    const past = await contextAt(memoryOver(copy).session(TRIP), 'said')
    expect(past).toMatchObject({ verified: false, reason: 'unrecorded' })
  })

  it('of who was first is everybody’s: what a head keeps to see a change is hashed again', async () => {
    const store = mapStore()
    const secret = secrets()
    await memoryOver(store).user(ADA).profile.set('SOUL.md', 'Be kind.')
    let other: Promise<Context> | undefined
    const raced = changedStore(store, (inner) => ({
      commit: async (ops, decide) => {
        if (!other && ops.some(({ envelope }) => envelope.mark === 'epoch')) {
          other = memoryOver(store, secret).session(TRIP).context()
          await other
        }
        return inner.commit(ops, decide)
      },
    }))
    const session = memoryOver(raced, () => 'f'.repeat(64)).session(TRIP)
    const tools = [{ name: 'find', inputSchema: { type: 'object' } }]
    const { epoch, receipt } = await session.context({ tools })
    expect(receipt.epoch).toMatchObject({ cause: 'head', place: 2 })
    expect((await memoryOver(store).session(TRIP).context({ tools })).epoch).toBe(epoch)
  })

  it('is stored by a memory tool before any context, so that a call that is made again is the same', async () => {
    const store = mapStore()
    const ids: unknown[] = []
    for (const digit of ['a', 'b']) {
      const session = memoryOver(store, () => digit.repeat(64)).session(TRIP)
      const [tool] = memoryTools(session, ['finding'])
      await tool?.execute?.({ text: 'It rains.' }, { callId: 'c1' } as never)
      ids.push((await session.facts.list()).map(({ id }) => id))
    }
    expect(ids[0]).toHaveLength(1)
    expect(ids[1]).toEqual(ids[0])
    expect((await left(store)).lines.filter((line) => line.includes('"sessionId":"trip"'))).not.toEqual([])
  })

  it('keys the etag of a start, which other processes know until something is forgotten', async () => {
    const store = mapStore()
    const start = async (digit: string) =>
      (await startSession(memoryOver(store, () => digit.repeat(64)).session(TRIP))).etag
    const session = memoryOver(store).session(TRIP)
    await session.append({ id: 'said', role: 'user', content: 'Hello.' })
    expect(await start('a')).not.toBe(await start('b'))
    await session.context()
    const etag = await start('a')
    expect(await start('b')).toBe(etag)
    expect((await startSession(session)).etag).toBe(etag)
    await forget(memoryOver(store, () => 'c'.repeat(64)).session(TRIP), 'said')
    expect((await startSession(session)).etag).toBe(await start('b'))
    expect((await startSession(session)).etag).not.toBe(etag)
  })

  it('makes what was hashed before a delete unverifiable, and contextAt says so', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session(TRIP)
    await session.append([
      { id: 'one', role: 'user', content: 'One.' },
      { id: 'two', role: 'assistant', content: 'Two.' },
    ])
    await session.context()
    await session.append({ id: 'then', role: 'user', content: 'Then.' })
    await session.facts.remember({ id: 'f', kind: 'finding', text: 'It rains.' })
    expect(await contextAt(session, 'two')).toMatchObject({ verified: true })
    await forget(session, 'f')
    expect(await contextAt(session, 'two')).toMatchObject({ verified: false, reason: 'forgotten' })
    const { receipt } = await session.context()
    expect(receipt.epoch).toMatchObject({ cause: 'forget', place: 2 })
    await session.append({ id: 'three', role: 'user', content: 'Three.' })
    await session.context()
    await session.append({ id: 'four', role: 'assistant', content: 'Four.' })
    expect(await contextAt(session, 'three')).toMatchObject({ verified: true })
  })

  it('has 256 bits of chance, and what is injected must have as many digits', async () => {
    const { newSecret: _, ...options } = { newSecret: '', store: mapStore(), budget: 1_000 }
    const session = createMemory(options).session(TRIP)
    await session.context()
    expect((await options.store.open(TRIP).register('secret'))?.body).toMatch(/^"[0-9a-f]{64}"$/)
    const short = createMemory({ ...options, newSecret: () => 'abc' }).session({ ...ADA, sessionId: 'two' })
    await expect(short.context()).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'newSecret',
    })
    expect(new Secret({ newSecret: () => 'a'.repeat(64) }).hash('x')).toBe(hashText('x', 'a'.repeat(64)))
  })
})
