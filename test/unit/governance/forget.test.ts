import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  charsPerToken,
  isPlimsollError,
  mapStore,
  type Part,
  type Store,
} from '../../../src/index.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { rewind } from '../../../src/operations/rewind.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { ADA, CANARY, memoryOver, readEverything, writeCanary } from '../../everywhere/governance.ts'
import { FailingStore } from '../support/failing-store.ts'
import { runs } from '../support/runs.ts'

const TRIP = { ...ADA, sessionId: 'trip' }

function open(store: Store = mapStore()) {
  const memory = memoryOver(store)
  return { memory, session: memory.session(TRIP), store }
}

async function logOf(store: Store): Promise<readonly LogRow[]> {
  const rows: LogRow[] = []
  const scope = store.open(TRIP)
  for (let seq = 0, more = true; more; seq = rows.at(-1)?.seq ?? seq) {
    const page = await scope.changesSince(seq)
    rows.push(...page.rows)
    more = page.more
  }
  return rows
}

/** Messages that were not forgotten. */
function rowsShown(rows: readonly LogRow[]): number {
  return rows.filter(({ kind, body }) => kind === 'message' && body !== null).length
}

describe('forgetting', () => {
  it('takes the id of a message first, else of a fact; or of the kind that is asked for', async () => {
    const { session } = open()
    await session.append([
      { id: 'one', role: 'user', content: 'A message.' },
      { id: 'two', role: 'assistant', content: 'Another one.' },
    ])
    for (const id of ['one', 'three'])
      await session.facts.remember({ id, kind: 'finding', text: `A fact that is named ${id} here.` })
    expect((await forget(session, 'one')).removed).toMatchObject({
      messages: { count: 1 },
      facts: { count: 0 },
    })
    expect(await session.facts.get('one')).toBeDefined()
    const fact = await forget(session, 'one', { kind: 'fact' })
    expect(fact.removed).toMatchObject({ messages: { count: 0 }, facts: { count: 1, first: ['one'] } })
    expect((await forget(session, 'three')).removed.facts.first).toEqual(['three'])
    for (const [id, kind] of [
      ['nobody', undefined],
      ['two', 'fact'],
      ['three', 'message'],
    ] as const)
      await expect(forget(session, id, kind ? { kind } : {})).rejects.toMatchObject({
        code: 'ERR_NOT_FOUND',
        id,
      })
    await expect(forget(session, 'two', { kind: 'epoch' as never })).rejects.toMatchObject({
      argument: 'kind',
    })
    expect(await session.history()).toMatchObject([{ id: 'two' }])
  })

  it('takes a summary too, and what was made of it, and leaves the messages that it stood for', async () => {
    const { memory, session, store } = open()
    await writeCanary(memory)
    const [summary] = (await store.open(TRIP).entries({ kinds: ['summary'] })).rows
    const certificate = await forget(session, summary?.id ?? '')
    expect(certificate.removed.messages.count).toBe(0)
    expect(certificate.removed.summaries.first).toContain(summary?.id)
    expect((await session.history({ messages: 500 })).map(({ id }) => id)).toContain('said')
    expect((await session.context()).blocks.length).toBeGreaterThan(0)
  })

  it('begins an epoch that shows all that showed before, but for what is gone', async () => {
    const { session } = open()
    await session.append({ id: 'first', role: 'user', content: 'Hello.' })
    await session.context()
    for (let round = 0; round < 80; round++)
      await session.append([
        { id: `q${round}`, role: 'user', content: `Question ${round} of many about trains.` },
        { id: `a${round}`, role: 'assistant', content: 'It depends.' },
      ])
    const shown = ({ blocks }: Context) =>
      blocks.flatMap(({ section, from }) => (section === 'window' ? from : []))
    const before = await session.context()
    await forget(session, 'q40')
    const after = await session.context()
    expect(after.receipt.epoch).toMatchObject({ cause: 'forget' })
    expect(shown(after)).toEqual(shown(before).filter((id) => id !== 'q40'))
    expect((await session.context()).receipt.epoch).toEqual(after.receipt.epoch)
    await session.append({ role: 'user', content: 'And now?' })
    expect((await session.context()).epoch).toBe(after.epoch)
  })

  it('leaves ids, numbers and order of all rows as they were', async () => {
    const { memory, session, store } = open()
    await writeCanary(memory)
    const before = await logOf(store)
    await forget(session, 'said')
    const after = await logOf(store)
    const named = ({ body: _, derived: __, contexts: ___, ...row }: LogRow) => row
    expect(after.slice(0, before.length).map(named)).toEqual(before.map(named))
    const emptied = before.flatMap((row, index) => (row.body === after[index]?.body ? [] : row.id))
    expect(emptied.filter((id) => !id.startsWith('summary/'))).toEqual(['said'])
  })

  it('leaves a fact of the user that another session’s message of another id said', async () => {
    const { memory, session } = open()
    const other = memory.session({ ...ADA, sessionId: 'other' })
    await session.append({ id: 'said-1', role: 'user', content: 'I like trains.' })
    await other.append({ id: 'said-2', role: 'user', content: 'I like windows.' })
    await session.facts.remember({ id: 'f1', kind: 'preference', text: 'Likes trains.', sources: ['said-1'] })
    await other.facts.remember({ id: 'f2', kind: 'preference', text: 'Likes windows.', sources: ['said-2'] })
    await forget(session, 'said-1')
    expect(await memory.user(ADA).facts.list()).toMatchObject([{ id: 'f2' }])
  })

  it('is over once a snapshot shows nothing of it', async () => {
    const { session } = open()
    await session.append({ id: 'said', role: 'user', content: CANARY })
    const stop = session.subscribe(() => {})
    await session.context()
    expect(JSON.stringify(session.getSnapshot())).toContain(CANARY)
    await forget(session, 'said')
    expect(JSON.stringify(session.getSnapshot())).not.toContain(CANARY)
    stop()
  })

  it('of a message leaves a checkpoint, a fact and an attachment that are called like it', async () => {
    const { session } = open()
    await session.checkpoint.set({ step: 1 })
    const { fact } = await session.facts.remember({ kind: 'finding', text: 'The door is open.' })
    const bytes = Uint8Array.of(1, 2)
    const picture = await attach(session, { id: 'picture', mediaType: 'image/png', bytes })
    await session.append({ id: 'shown', role: 'user', content: [picture] })
    for (const id of ['checkpoint', `fact/${fact.id}`, 'picture']) {
      await session.append({ id, role: 'user', content: CANARY })
      const { removed } = await forget(session, id, { kind: 'message' })
      expect(removed).toMatchObject({
        messages: { count: 1, first: [id] },
        facts: { count: 0 },
        attachments: { count: 0 },
      })
    }
    expect(await session.checkpoint.get()).toMatchObject({ value: { step: 1 } })
    await session.checkpoint.set({ step: 2 })
    expect(await session.facts.list()).toMatchObject([{ id: fact.id }])
    expect((await readAttachment(session, 'picture')).bytes).toEqual(bytes)
    expect((await session.history()).map(({ id }) => id)).toEqual(['shown'])
  })

  it('removes an attachment, and nothing else that has its id', async () => {
    const { session } = open()
    const bytes = Uint8Array.of(1)
    const parts = [
      await attach(session, { id: 'two', mediaType: 'image/png', bytes }),
      await attach(session, { id: 'checkpoint', mediaType: 'image/png', bytes }),
      await attach(session, { id: 'three', mediaType: 'image/png', bytes }),
    ]
    await session.checkpoint.set({ step: 1 })
    await session.append({ id: 'one', role: 'user', content: parts })
    await session.append({ id: 'two', role: 'user', content: 'Another message.' })
    const { removed, kept } = await forget(session, 'one')
    expect(removed.attachments.first).toEqual(['two', 'checkpoint', 'three'])
    expect(kept.first).toEqual([])
    expect(await session.history()).toMatchObject([{ id: 'two' }])
    expect(await session.checkpoint.get()).toMatchObject({ value: { step: 1 } })
  })

  it('is finished by the same call wherever it ended', async () => {
    const whole = mapStore()
    await writeCanary(memoryOver(whole))
    const counted = new FailingStore(whole, { at: Number.POSITIVE_INFINITY, when: 'before', isEnd: true })
    await forget(memoryOver(counted.store).session(TRIP), 'said')
    expect(counted.calls).toBeGreaterThan(10)
    for (let at = 1; at <= counted.calls; at++)
      for (const when of at % 2 === 0 ? (['before'] as const) : (['after'] as const)) {
        const store = mapStore()
        await writeCanary(memoryOver(store))
        const failing = new FailingStore(store, { at, when, isEnd: true })
        await forget(memoryOver(failing.store).session(TRIP), 'said').catch(() => {})
        await forget(memoryOver(store).session(TRIP), 'said')
        expect(await readEverything(store), `${when} ${at}`).not.toContain(CANARY)
        const actions = (await readAudit(memoryOver(store), ADA)).map(({ action }) => action)
        expect(actions).toContain('forget')
      }
  })

  it('leaves no word of it, in whatever order what is said is answered, remembered, summarised and forgotten', async () => {
    const action = fc.oneof(
      { weight: 4, arbitrary: fc.constant('say' as const) },
      { weight: 2, arbitrary: fc.constant('answer' as const) },
      { weight: 2, arbitrary: fc.constantFrom('call' as const, 'result' as const) },
      { weight: 2, arbitrary: fc.constant('remember' as const) },
      { weight: 2, arbitrary: fc.constant('context' as const) },
      { weight: 1, arbitrary: fc.constant('elsewhere' as const) },
      { weight: 1, arbitrary: fc.constant('rewind' as const) },
      { weight: 2, arbitrary: fc.constant('forget' as const) },
      { weight: 1, arbitrary: fc.constant('reopen' as const) },
    )
    const step = fc.record({ action, place: fc.nat(1_000), shared: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const store = mapStore()
        const make = () =>
          fullMemory({
            store,
            budget: 700,
            counter: charsPerToken(4),
            compaction: { ahead: false },
            recall: {},
            laws: lawChecker,
            clock: () => 1_000,
          })
        let memory = make()
        let session: FullSession = memory.session(TRIP)
        const ids: string[] = []
        const calls: string[] = []
        const gone = new Set<string>()
        const wordOf = (id: string): string => `xylo${id}q`
        for (const { action, place, shared } of steps) {
          const live = ids.filter((id) => !gone.has(id))
          const id = live[place % Math.max(1, live.length)]
          try {
            if (action === 'say' || action === 'answer') {
              const next = `m${ids.length}m`
              const content = `The word of the day is ${wordOf(next)}, so remember ${wordOf(next)} well.`
              await session.append({ id: next, role: action === 'say' ? 'user' : 'assistant', content })
              ids.push(next)
            }
            if (action === 'call' || action === 'result') {
              const next = `m${ids.length}m`
              const callId =
                action === 'call' ? next : (calls.at(place % Math.max(1, calls.length)) ?? 'none')
              const part: Part =
                action === 'call'
                  ? { type: 'tool-call', id: callId, name: 'look', input: { for: wordOf(next) } }
                  : { type: 'tool-result', callId, output: `Found ${wordOf(next)}.` }
              await session.append({
                id: next,
                role: action === 'call' ? 'assistant' : 'tool',
                content: [part],
              })
              if (action === 'call') calls.push(callId)
              ids.push(next)
            }
            if (action === 'remember' && id !== undefined)
              await session.facts.remember({
                kind: shared ? 'preference' : 'finding',
                text: `They said ${wordOf(id)} at ${place}.`,
                sources: [id],
              })
            if (action === 'context') await session.context({ onPending: 'abandon' })
            if (action === 'elsewhere') {
              const other = memory.session({ ...ADA, sessionId: 'other' })
              await other.append({ role: 'user', content: 'And here?' })
              await other.context()
            }
            if (action === 'rewind' && id !== undefined) await rewind(session, id)
            if (action === 'forget' && id !== undefined) {
              await forget(session, id)
              gone.add(id)
            }
            if (action === 'reopen') {
              memory = make()
              session = memory.session(TRIP)
            }
          } catch (error) {
            if (!isPlimsollError(error) || error.code === 'ERR_LAW_BROKEN') throw error
          }
        }
        if (rowsShown(await logOf(store)) > 0) {
          const warm = await session.context({ onPending: 'abandon' })
          const cold = await make().session(TRIP).context({ onPending: 'abandon' })
          expect(cold.hash).toBe(warm.hash)
          for (const id of gone) expect(JSON.stringify(warm)).not.toContain(wordOf(id))
        }
        const all = await readEverything(store)
        for (const id of gone) expect(all).not.toContain(wordOf(id))
        const rows = (await logOf(store)).filter(({ kind }) => kind === 'message')
        expect(rows.map(({ id }) => id)).toEqual(ids)
        for (const { id, body } of rows) expect(body === null, id).toBe(gone.has(id))
      }),
      runs(150),
    )
  })
})
