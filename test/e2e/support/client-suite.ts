import { describe, expect, it } from 'vitest'
import type { Client, RequestError } from '../../../src/client/index.ts'
import { lintRequest, toAnthropic, toOpenAI } from '../../../src/index.ts'
import { size } from '../../everywhere/runs.ts'

/** What an edge is reached by. */
export interface Connection {
  /** A client of that user, whom nobody else uses. */
  user(userId: string): Client | Promise<Client>
  /** A client that sends this token. Default: no guests are tried. */
  token?(token: string): Client | Promise<Client>
}

export interface ClientSuiteOptions {
  /** What this edge does without, and why; what is not named has to work. */
  readonly without?: { readonly [part in 'chat' | 'guests' | 'live']?: string }
}

const code = (error: unknown): unknown => (error as Partial<RequestError>).code
const failing = (promise: Promise<unknown>): Promise<RequestError> =>
  promise.then(
    () => {
      throw new Error('nothing was refused')
    },
    (error: RequestError) => error,
  )
let users = 0
const somebody = (): string => `somebody-${Date.now().toString(36)}-${++users}`

/**
 * What `plimsoll/client` promises, against an edge. The same for all that speak the edge's HTTP.
 */
export function describeClient(
  name: string,
  connect: () => Connection | Promise<Connection>,
  { without = {} }: ClientSuiteOptions = {},
): void {
  const open = async (userId = somebody()) => {
    const client = await (await connect()).user(userId)
    await client.sessions.create({ sessionId: 'trip' })
    return { client, session: client.session('trip') }
  }

  describe(`the client against ${name}`, () => {
    it('finds it in health', async () => {
      const { client } = await open()
      expect((await client.health()).status).toBe('ok')
    })

    it('makes, lists, names and deletes sessions, each for its user alone', async () => {
      const { client } = await open()
      const made = await client.sessions.create({ title: 'A title' })
      expect(made).toMatchObject({ title: 'A title', createdAt: expect.any(Number) })
      expect(await client.sessions.create({ sessionId: 'trip' })).toMatchObject({ sessionId: 'trip' })
      const ids = [made.sessionId, 'trip'].sort()
      expect((await client.sessions.list()).map(({ sessionId }) => sessionId)).toEqual(ids)
      expect(await client.sessions.list({ after: ids[1] as string })).toEqual([])
      expect(await client.sessions.update('trip', { title: 'Turin' })).toMatchObject({ title: 'Turin' })
      expect(await client.sessions.get('trip')).toMatchObject({ sessionId: 'trip', title: 'Turin' })
      const { client: other } = await open()
      for (const foreign of [made.sessionId, 'none'])
        expect(await failing(other.session(foreign).messages())).toMatchObject({
          code: 'ERR_NOT_FOUND',
          status: 404,
        })
      await client.sessions.delete('trip')
      await client.sessions.delete('trip')
      expect(code(await failing(client.sessions.get('trip')))).toBe('ERR_NOT_FOUND')
    })

    it('writes messages and reads them back, byte for byte', async () => {
      const { session } = await open()
      const input = { someKey: [1, null, { other_key: 'é' }], '': 0 }
      const written = await session.append([
        { role: 'user', content: 'a\u0000b 🚆 مرحبا \u2028', metadata: { fromApp: { deepKey: 1 } } },
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'find', input }] },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'c1', output: { isIt: true } }] },
      ])
      expect(written).toMatchObject({ repeated: false, mismatch: false })
      expect(await session.messages()).toEqual(written.messages)
      expect(written.messages[0]?.metadata).toEqual({ fromApp: { deepKey: 1 } })
      expect(written.messages[1]?.content).toEqual([{ type: 'tool-call', id: 'c1', name: 'find', input }])
      expect(await session.messages({ rounds: 1, before: written.messages[1]?.id as string })).toEqual(
        written.messages.slice(0, 1),
      )
    })

    it('writes once what is sent twice', async () => {
      const { session } = await open()
      const hello = { role: 'user', content: 'Hello' } as const
      const first = await session.append(hello, { opId: 'op-1' })
      expect(await session.append(hello, { opId: 'op-1' })).toEqual(first)
      const other = session.append({ ...hello, content: 'Bye' }, { opId: 'op-1' })
      expect(code(await failing(other))).toBe('ERR_CONFLICT')
      expect(await session.messages()).toHaveLength(1)
    })

    it('gives a context that the renderers take', async () => {
      const { session } = await open()
      await session.append({ role: 'user', content: 'Where is it?' })
      const tools = [
        { name: 'find', inputSchema: { type: 'object', properties: { some_key: {}, otherKey: {} } } },
      ]
      const context = await session.context({ tools, tail: [{ name: 'now', text: 'Monday' }] })
      expect(context.tools).toEqual(tools)
      expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
      expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
      expect(context.receipt.used).toBeLessThanOrEqual(context.receipt.cap ?? Infinity)
      expect((await session.context({ tools, tail: [{ name: 'now', text: 'Monday' }] })).hash).toBe(
        context.hash,
      )
      const { text, spans } = await session.explain({ provider: 'anthropic' })
      expect(spans.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text)
      expect(await session.compact()).toMatchObject({ status: expect.any(String) })
    })

    it('says why there is no context', async () => {
      const { session } = await open()
      const { messages } = await session.append([
        { role: 'user', content: 'Find it.' },
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'find', input: {} }] },
      ])
      expect(await failing(session.context())).toMatchObject({
        code: 'ERR_TOOL_PENDING',
        pending: [{ entry: messages[1]?.id, callId: 'c1', name: 'find' }],
        requestId: expect.any(String),
      })
      const wrong = session.append({ role: 'robot' as 'user', content: '' })
      expect(await failing(wrong)).toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: expect.any(String),
      })
    })

    it('writes a message that is longer than a body', async () => {
      const { session } = await open()
      const content = '漢é🚆"\\\n'.repeat(200_000)
      const { messages } = await session.append([
        { role: 'user', content },
        { role: 'assistant', content: 'That was long.' },
      ])
      expect(messages[0]?.content === content).toBe(true)
      // A page ends where it would be too long, and goes on before its first message.
      const [newest, ...others] = await session.messages()
      expect([newest?.id, others]).toEqual([messages[1]?.id, []])
      const [older] = await session.messages({ before: newest?.id as string })
      expect(older?.content === content).toBe(true)
    })

    it('hides what was said, and shows it again', async () => {
      const { session } = await open()
      const { messages } = await session.append([
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
      ])
      const rewind = await session.rewind(messages[1]?.id as string)
      expect(await session.messages()).toHaveLength(1)
      expect(await session.undo()).toBe(rewind)
      expect(await session.messages()).toEqual(messages)
      expect(code(await failing(session.undo(rewind)))).toBe('ERR_NOT_FOUND')
    })

    it('keeps facts', async () => {
      const { client, session } = await open()
      const { facts } = session
      const finding = { kind: 'finding', text: 'The 9:40 is late.', trust: 'assistant' } as const
      const { fact, status } = await facts.remember(finding)
      expect([status, fact.text, fact.trust]).toEqual(['new', finding.text, 'assistant'])
      expect((await facts.remember(finding)).status).toBe('known')
      expect(await facts.update(fact.id, { review: 'good' })).toMatchObject({ id: fact.id })
      expect(await facts.update(fact.id, { promote: true })).toMatchObject({
        trust: 'user',
        promotedFrom: 'assistant',
      })
      expect(await facts.update(fact.id, { pinned: true })).toMatchObject({ pinned: true })
      const better = await facts.update(fact.id, {
        supersede: { kind: 'finding', text: 'The 9:40 is gone.' },
      })
      expect(better).toMatchObject({ supersedes: fact.id })
      const { fact: blocker } = await facts.remember({ kind: 'blocker', text: 'No ticket.' })
      expect(await facts.update(blocker.id, { resolve: true })).toMatchObject({ status: 'resolved' })
      await client.me.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
      expect((await client.me.facts.list()).map(({ text }) => text)).toEqual(['Likes window seats.'])
      const shown = async (query = {}): Promise<string[]> =>
        (await facts.list(query)).map(({ text }) => text).sort()
      expect(await shown()).toEqual(['Likes window seats.', 'The 9:40 is gone.'])
      expect(await shown({ kinds: ['finding', 'blocker'], all: true })).toHaveLength(3)
      await facts.forget(better.id)
      expect(await shown({ kinds: ['finding'] })).toEqual([])
      expect(code(await failing(facts.update('none', { pinned: true })))).toBe('ERR_NOT_FOUND')
    })

    it('forgets a message, and lists what was done', async () => {
      const { client, session } = await open()
      await session.append({ id: 'said', role: 'user', content: 'Two seats to Turin.' })
      expect(await session.forget('said')).toMatchObject({
        action: 'forget',
        target: 'said',
        already: false,
        removed: { messages: { count: 1, first: ['said'] } },
      })
      expect(await session.messages()).toEqual([])
      expect(await session.forget('said')).toMatchObject({ already: true })
      expect(code(await failing(session.forget('none')))).toBe('ERR_NOT_FOUND')
      await session.append({ id: 'more', role: 'user', content: 'And back.' })
      await session.forget('more')
      const [newest] = await client.me.audit({ first: 1 })
      expect(newest).toMatchObject({ action: 'forget', target: 'more', counts: { messages: 1 } })
      expect(await client.me.audit({ after: newest?.id ?? '' })).toMatchObject([{ target: 'said' }])
    })

    it('erases the caller, and says what was removed', async () => {
      const { client, session } = await open()
      await session.append({ role: 'user', content: 'Two seats to Turin.' })
      await client.me.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
      expect(await client.me.erase()).toMatchObject({
        action: 'erase',
        already: false,
        removed: { messages: { count: 1 } },
      })
      expect(await client.me.facts.list()).toEqual([])
      expect(await client.me.erase()).toMatchObject({ already: true })
    })

    it('keeps a checkpoint, over the version that was read', async () => {
      const { checkpoint } = (await open()).session
      const nothing = { processedIds: [] as string[] }
      expect(await checkpoint.get({ default: nothing })).toEqual({ value: nothing, version: null })
      const value = { processedIds: ['a'], some_key: 1 }
      const version = await checkpoint.set(value, { ifVersion: null })
      expect(await checkpoint.get()).toEqual({ value, version })
      expect(await checkpoint.get({ ifNoneMatch: version })).toBeUndefined()
      const late = await failing(checkpoint.set(0, { ifVersion: null }))
      expect(late).toMatchObject({ code: 'ERR_CONFLICT', version })
      const next = await checkpoint.set(0, { ifVersion: version })
      expect(await checkpoint.get({ ifNoneMatch: version })).toEqual({ value: 0, version: next })
    })

    // 100 at once in `npm run test:cases`, and through handles of one process at each push.
    it('loses none of many updates of a checkpoint that begin at once, through one client or two', async () => {
      const { client, session } = await open()
      await session.append({ role: 'user', content: 'Hello' })
      const { checkpoint } = client.session('trip')
      await Promise.all(
        Array.from({ length: size(100) }, (_, index) =>
          (index % 2 === 0 ? session.checkpoint : checkpoint).update<number[]>((done) => [...done, index], {
            default: [],
          }),
        ),
      )
      const { value } = await checkpoint.get<number[]>()
      expect([value.length, new Set(value).size]).toEqual([size(100), size(100)])
      await checkpoint.delete()
      expect((await checkpoint.get()).version).toBeNull()
      expect(await session.messages()).toHaveLength(1)
    })

    it('commits messages, checkpoint and facts, all or nothing', async () => {
      const { session } = await open()
      const checkpoint = { processedIds: ['a'], some_key: 1 }
      const messages = { role: 'user', content: 'Hello' } as const
      const facts = [{ kind: 'finding', text: 'The 9:40 is full.' }] as const
      const written = await session.commit({ messages, checkpoint, facts }, { ifVersion: null })
      expect(written).toMatchObject({ repeated: false, facts: [{ status: 'new' }] })
      expect(await session.checkpoint.get()).toEqual({ value: checkpoint, version: written.checkpoint })
      const late = await failing(session.commit({ messages, checkpoint: 1, facts }, { ifVersion: null }))
      expect(late).toMatchObject({ code: 'ERR_CONFLICT', status: 409, version: written.checkpoint })
      expect(await session.messages()).toHaveLength(1)
      expect(await session.facts.list()).toHaveLength(1)
    })

    it('starts a session, and says when nothing has changed', async () => {
      const { session } = await open()
      await session.facts.remember({ kind: 'constraint', text: 'Never book a flight.' })
      const start = await session.start({ budgetTokens: 2_000 })
      expect(start).toMatchObject({ memory_count: 1, budget: { cap: 2_000 }, due_for_review: 0 })
      expect(await session.start({ budgetTokens: 2_000, ifNoneMatch: start.etag })).toBeUndefined()
      expect(
        (
          await session.start({
            budgetTokens: { working_memory_budget_tokens: 1_000, pin_budget_tokens: 10 },
          })
        ).budget.cap,
      ).toBe(1_000)
      expect(code(await failing(session.start({ budgetTokens: 1 })))).toBe('ERR_BUDGET_TOO_SMALL')
    })

    it('keeps profile and skills, over the version that was read', async () => {
      const { profile, skills } = (await open()).client.me
      expect(await profile.get('SOUL.md')).toBeUndefined()
      const version = await profile.set('SOUL.md', '# Kind\r\n', { ifVersion: null })
      expect(await profile.get('SOUL.md')).toEqual({ name: 'SOUL.md', text: '# Kind\r\n', version })
      expect(await failing(profile.set('SOUL.md', '', { ifVersion: 'other' }))).toMatchObject({
        code: 'ERR_CONFLICT',
        version,
      })
      await profile.set('notes/ä 1.md', 'Other')
      expect((await profile.list()).map(({ name }) => name)).toEqual(['SOUL.md', 'notes/ä 1.md'])
      await profile.delete('SOUL.md', { ifVersion: version })
      await profile.delete('SOUL.md')
      expect(await profile.get('SOUL.md')).toBeUndefined()
      const markdown = '---\nname: tides\ndescription: Reads tide tables.\n---\n# Tides\n'
      const first = await skills.set('tides', markdown)
      const tides = { name: 'tides', description: 'Reads tide tables.', text: '# Tides\n' }
      expect(await skills.get('tides')).toMatchObject({ ...tides, version: first })
      await skills.set(
        'trains',
        { description: 'Reads timetables.', text: '# Trains\n' },
        { ifVersion: null },
      )
      expect((await skills.list({ first: 1 })).map(({ name }) => name)).toEqual(['tides'])
      expect((await skills.list({ after: 'tides' })).map(({ name }) => name)).toEqual(['trains'])
      expect(code(await failing(skills.delete('tides', { ifVersion: 'other' })))).toBe('ERR_CONFLICT')
      await skills.delete('tides', { ifVersion: first })
      expect(await skills.get('tides')).toBeUndefined()
    })

    it('recalls what was said in sessions', async () => {
      const { client, session } = await open()
      await session.append({ role: 'user', content: 'The lighthouse keeper is called Ines.' })
      const items = await client.me.recall('lighthouse keeper', { sessions: ['trip'], first: 1 })
      expect(items).toMatchObject([{ type: 'message', sessionId: 'trip', createdAt: expect.any(Number) }])
      expect(await client.me.recall('lighthouse keeper')).toEqual([])
    })

    it.skipIf(without.chat)('chats, and reads the run again', async () => {
      const { session } = await open()
      const run = session.chat('Hello there')
      const types: string[] = []
      for await (const { type } of run) types.push(type)
      const result = await run.result()
      expect([types[0], types.at(-1)]).toEqual(['start', 'finish'])
      expect(result).toMatchObject({
        finishReason: 'stop',
        isAborted: false,
        text: expect.stringMatching(/\S/),
      })
      expect(await session.resumeChat(result.run).result()).toEqual(result)
      expect((await session.messages()).map(({ role }) => role)).toEqual(['user', 'assistant'])
      await session.stopChat(result.run)
      expect(code(await failing(session.resumeChat().result()))).toBe('ERR_NOT_FOUND')
    })

    it.skipIf(without.guests)(
      'gives guests a token, and their sessions to the user who signs in',
      async () => {
        const connection = await connect()
        const { client } = await open()
        const { token, expiresAt } = await client.guests.create()
        expect(expiresAt).toBeGreaterThan(Date.now())
        const guest = (await connection.token?.(token)) as Client
        await guest.sessions.create({ sessionId: 'as-guest' })
        await guest.session('as-guest').append({ role: 'user', content: 'Who am I?' })
        const claimed = await client.me.claim(token)
        expect(claimed.sessions).toHaveLength(1)
        expect(await client.me.claim(token)).toEqual(claimed)
        expect(await client.session(claimed.sessions[0]?.to ?? '').messages()).toHaveLength(1)
      },
    )

    it.skipIf(without.live)('tells of changes while they happen', async () => {
      const { session } = await open()
      const told: string[] = []
      const close = session.live(({ type }) => told.push(type))
      await expect.poll(() => told).toContain('open')
      await session.append({ role: 'user', content: 'Hello' })
      await expect.poll(() => told).toContain('change')
      close()
    })
  })
}
