import { describe, expect, it } from 'vitest'
import { allPanels } from '../../../src/chat/homes/all-panels.ts'
import { edgePanel } from '../../../src/chat/homes/edge-panel.ts'
import { rewind } from '../../../src/chat/homes/local-changes.ts'
import { localPanel } from '../../../src/chat/homes/local-panel.ts'
import { originOf } from '../../../src/chat/homes/panel-facts.ts'
import type { Chat } from '../../../src/chat/open-chat.ts'
import type { ConversationState, HomeKind, HomeMemory, RememberedChip } from '../../../src/chat/ports.ts'
import type { Client } from '../../../src/client/client.ts'
import { mapStore, scriptedModel } from '../../../src/index.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { type ImportOptions, importInto } from '../../../src/operations/transfer/import.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { idle, until } from './states.ts'
import { browser } from './support.ts'

const model = (messages: readonly { readonly content: string }[]): string =>
  `You said ${messages.at(-1)?.content}`

const panelOver = (userId = 'ada') => {
  const memory = fullMemory({ store: mapStore(), budget: 16_000 })
  return {
    memory,
    panel: localPanel(memory, userId, () => 7),
    session: memory.session({ userId, sessionId: 'trip' }),
  }
}

const collected = async (lines: AsyncIterable<string>): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

describe('the list of sessions', () => {
  it('has the newest first, named after what was said first, and tells of changes', async () => {
    const chat = browser().open({ model })
    let told = 0
    chat.sessions.subscribe(() => told++)
    for (const text of ['Trains to Turin', 'Hotels in\nGenoa']) {
      await chat.conversation.create()
      await chat.conversation.send(text)
      await until(chat, idle)
    }
    await expect
      .poll(() => chat.sessions.getSnapshot().sessions.map(({ title }) => title))
      .toEqual(['Hotels in', 'Trains to Turin'])
    expect(chat.sessions.getSnapshot()).toMatchObject({ loaded: true })
    expect(told).toBeGreaterThan(0)
    await chat.close()
  })

  it('is searched by titles and by what was said', async () => {
    const chat = browser().open({ model })
    for (const text of ['Trains to Turin', 'Hotels in Genoa']) {
      await chat.conversation.create()
      await chat.conversation.send(text)
      await until(chat, idle)
    }
    await chat.conversation.send('And the lighthouse?')
    await until(chat, (state) => idle(state) && state.messages.length === 4)
    expect((await chat.sessions.search('TURIN')).map(({ title }) => title)).toEqual(['Trains to Turin'])
    const [found] = await chat.sessions.search('lighthouse')
    expect(found?.title).toBe('Hotels in Genoa')
    expect(found?.excerpt).toContain('lighthouse')
    expect(found?.messageId).toBe(chat.conversation.getSnapshot().messages[2]?.message.id)
    expect(await chat.sessions.search('zeppelin')).toEqual([])
    await chat.close()
  })

  it('renames a session, and deletes one with an account of it, the one on the screen too', async () => {
    const chat = browser().open({ model })
    const id = await chat.conversation.create()
    await chat.conversation.send('Hello')
    await until(chat, idle)
    await chat.sessions.rename(id, 'Greetings')
    expect(chat.sessions.getSnapshot().sessions[0]?.title).toBe('Greetings')
    expect(chat.conversation.getSnapshot().session?.title).toBe('Greetings')
    expect(await chat.conversation.inspected()).toMatchObject({ title: 'Greetings' })
    const certificate = await chat.sessions.delete(id)
    expect(certificate).toMatchObject({ action: 'erase', target: id, removed: { messages: { count: 2 } } })
    expect(chat.sessions.getSnapshot().sessions).toEqual([])
    expect(chat.conversation.getSnapshot().session?.sessionId).not.toBe(id)
    await chat.close()
  })
})

it('says of a conversation that another tab deletes that it is gone, and lists it no more', async () => {
  const place = browser()
  const [one, two] = [place.open({ model }), place.open({ model })]
  await one.conversation.create()
  await one.conversation.send('Hello')
  const { session } = await until(one, idle)
  two.sessions.subscribe(() => {})
  await two.conversation.open(session?.sessionId ?? '')
  await expect.poll(() => two.sessions.getSnapshot().sessions).toHaveLength(1)
  await one.sessions.delete(session?.sessionId ?? '')
  const gone = await until(two, ({ isMissing }) => isMissing === 'deleted')
  expect(gone).toMatchObject({ messages: [], session: { title: '' } })
  await expect.poll(() => two.sessions.getSnapshot().sessions).toEqual([])
  // What is written now begins another one.
  await two.conversation.send('Once more')
  await until(two, idle)
  await expect
    .poll(() => two.sessions.getSnapshot().sessions.map(({ title }) => title))
    .toEqual(['Once more'])
  await Promise.all([one.close(), two.close()])
})

const chipOf = (chat: Chat): RememberedChip | undefined =>
  chat.conversation.getSnapshot().messages.flatMap(({ remembered }) => remembered)[0]

/** A chat in which one thing was remembered. */
async function remembering(): Promise<{ readonly chat: Chat; readonly chip: RememberedChip }> {
  const call = { name: 'memory_preference', input: { text: 'Likes window seats.' }, id: 'c1' }
  const chat = browser().open({ model: scriptedModel([{ calls: [call] }, 'Noted.', 'Well.']) })
  await chat.conversation.send('I like window seats')
  await until(chat, (state) => idle(state) && chipOf(chat) !== undefined)
  return { chat, chip: chipOf(chat) as RememberedChip }
}

describe('what was remembered of a reply', () => {
  it('shows at the newest message that it came from, and is gone once it is undone', async () => {
    const chat = browser().open({
      model: scriptedModel([
        { calls: [{ name: 'memory_finding', input: { text: 'The 9:40 is full.' }, id: 'c1' }] },
        'Noted.',
      ]),
    })
    await chat.conversation.send('Note that the 9:40 is full')
    const state = await until(
      chat,
      (state) => idle(state) && state.messages.some(({ remembered }) => remembered[0]),
    )
    const chips = state.messages.flatMap(({ remembered }) => remembered)
    expect(chips.map(({ text }) => text)).toEqual(['The 9:40 is full.'])
    const seen: (string | undefined)[] = []
    chat.conversation.subscribe(() => seen.push(chipOf(chat)?.undo))
    await chat.conversation.forget(chips[0]?.factId ?? '')
    // Once more changes nothing.
    await chat.conversation.forget(chips[0]?.factId ?? '')
    expect(chat.conversation.getSnapshot().problem).toBe(undefined)
    expect(chipOf(chat)).toEqual({ ...chips[0], text: '', undo: 'done' })
    expect([...new Set(seen)]).toEqual(['begun', 'done'])
    expect(await (await chat.memory()).facts()).toEqual([])
    await chat.conversation.open(state.session?.sessionId ?? '')
    expect(chipOf(chat)).toBe(undefined)
    await chat.close()
  })

  it('goes with the message that says it, for the model and in another tab too', async () => {
    const place = browser()
    const call = { name: 'memory_preference', input: { text: 'Likes window seats.' }, id: 'c1' }
    const model = scriptedModel([{ calls: [call] }, 'Noted.', 'Yes.'])
    const chat = place.open({ model })
    await chat.conversation.send('I like window seats')
    const { session } = await until(chat, (state) => idle(state) && chipOf(chat) !== undefined)
    const other = place.open()
    await other.conversation.open(session?.sessionId ?? '')
    const said = chipOf(chat)?.said ?? ''
    const certificate = await chat.conversation.forgetMessage(said)
    expect(certificate).toMatchObject({ removed: { messages: { first: [said] }, facts: { count: 1 } } })
    const isGone = ({ messages }: ConversationState): boolean =>
      !messages.some(({ message }) => message.id === said)
    expect(isGone(chat.conversation.getSnapshot())).toBe(true)
    await until(other, isGone)
    expect(chipOf(chat)).toBe(undefined)
    const [call1] = chat.conversation.getSnapshot().messages
    await chat.conversation.forgetMessage(call1?.message.id ?? '')
    await chat.conversation.send('And now?')
    await until(chat, (state) => idle(state) && model.requests.length === 3)
    expect(JSON.stringify(model.requests[2])).not.toContain('window seats')
    const unknown = chat.conversation.forgetMessage('no such message')
    await expect(unknown).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
    })
    await Promise.all([chat.close(), other.close()])
  })

  it('leaves the way to other versions where the first message that shows is forgotten', async () => {
    const chat = browser().open({ model: () => 'Yes.' })
    await chat.conversation.send('I like window seats')
    await until(chat, idle)
    const shown = () => chat.conversation.getSnapshot().messages
    await chat.conversation.edit(shown()[0]?.message.id ?? '', 'I like aisle seats')
    await until(chat, (state) => idle(state) && shown()[0]?.message.content === 'I like aisle seats')
    await chat.conversation.forgetMessage(shown()[0]?.message.id ?? '')
    expect(chat.conversation.getSnapshot()).toMatchObject({
      hasOlder: false,
      messages: [{ message: { role: 'assistant' }, version: { index: 2, count: 2 } }],
    })
    await chat.conversation.switchVersion(shown()[0]?.message.id ?? '', 1)
    expect(shown()[0]?.message.content).toBe('I like window seats')
    await chat.close()
  })

  it('leaves that way where one went to and fro before, and shows another version when none is left', async () => {
    const chat = browser().open({ model: () => 'Yes.' })
    await chat.conversation.send('one')
    await until(chat, idle)
    const shown = () => chat.conversation.getSnapshot().messages
    const first = () => shown()[0]?.message.id ?? ''
    await chat.conversation.edit(first(), 'two')
    await until(chat, (state) => idle(state) && shown()[0]?.message.content === 'two')
    await chat.conversation.switchVersion(first(), 1)
    await chat.conversation.switchVersion(first(), 2)
    await chat.conversation.forgetMessage(first())
    expect(shown()).toMatchObject([{ message: { role: 'assistant' }, version: { index: 2, count: 2 } }])
    await chat.conversation.switchVersion(first(), 1)
    expect(shown()[0]?.message.content).toBe('one')
    await chat.conversation.switchVersion(first(), 2)
    await chat.conversation.forgetMessage(first())
    expect(shown()[0]?.message.content).toBe('one')
    await chat.close()
  })

  it('shows at the edited message where a version of it was remembered that is shown no more', async () => {
    const { chat, chip } = await remembering()
    const user = () => chat.conversation.getSnapshot().messages.find(({ message }) => message.role === 'user')
    const first = user()?.message.id ?? ''
    await chat.conversation.edit(first, 'I like aisle seats')
    const isEdited = (): boolean => user()?.message.content === 'I like aisle seats'
    await until(chat, (state) => isEdited() && state.messages.some(({ remembered }) => remembered.length > 0))
    expect(user()?.remembered).toEqual([{ ...chip, said: undefined }])
    await chat.conversation.forget(chip.factId)
    expect(user()?.remembered).toEqual([{ ...chip, said: undefined, text: '', undo: 'done' }])
    expect(await (await chat.memory()).facts()).toEqual([])
    await chat.close()
  })

  it('is kept where it could not be undone, and says so', async () => {
    const { chat, chip } = await remembering()
    await chat.conversation.forget('no such fact')
    expect(chat.conversation.getSnapshot().problem).toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(chipOf(chat)).toEqual(chip)
    await chat.close()
  })

  it('shows no more once it is forgotten in the panel, also where all sessions share it', async () => {
    const { chat, chip } = await remembering()
    const panel = await chat.memory()
    await panel.promote(chip.factId)
    await expect.poll(() => chipOf(chat)?.trust).toBe('user')
    expect((await panel.facts()).map(({ shared }) => shared)).toEqual([true])
    await panel.forget(chip.factId)
    expect(chipOf(chat)).toMatchObject({ text: '', undo: 'done' })
    await chat.close()
  })

  it('shows no more in its old words once they are edited in the panel, where all sessions share it', async () => {
    const { chat, chip } = await remembering()
    const panel = await chat.memory()
    await panel.promote(chip.factId)
    await panel.edit(chip.factId, { text: 'Likes aisle seats.' })
    await expect.poll(() => chipOf(chat)?.text).not.toBe('Likes window seats.')
    await chat.close()
  })
})

describe('the panel of a local memory', () => {
  it('shows facts of all sessions and those that they share, and finds words in them', async () => {
    const { panel, session } = panelOver()
    await session.append({ role: 'user', content: 'Hello' })
    await session.facts.remember({ kind: 'finding', text: 'The 9:40 is full.' })
    await session.facts.remember({ kind: 'preference', text: 'I prefer window seats.', trust: 'user' })
    expect((await panel.facts()).map(({ text, shared }) => [text, shared])).toEqual([
      ['I prefer window seats.', true],
      ['The 9:40 is full.', false],
    ])
    const all = allPanels([{ kind: 'local', memory: panel }], ['local'], async () => panel)
    expect((await all.facts({ query: 'WINDOW prefer' })).length).toBe(1)
  })

  it('edits, pins, promotes and forgets', async () => {
    const { panel, session } = panelOver()
    await session.append({ role: 'user', content: 'Hello' })
    const { fact } = await session.facts.remember({
      kind: 'finding',
      text: 'The 9:40 is full.',
      trust: 'assistant',
    })
    await panel.promote(fact.id)
    await panel.pin(fact.id, true)
    expect((await panel.facts())[0]).toMatchObject({ pinned: true, trust: 'user' })
    await panel.pin(fact.id, false)
    await panel.edit(fact.id, { text: 'The 9:50 is full.' })
    const [edited] = await panel.facts()
    expect(edited?.text).toBe('The 9:50 is full.')
    expect(await panel.forget(edited?.id ?? '')).toMatchObject({
      action: 'forget',
      removed: { facts: { count: 1 } },
    })
    await expect(panel.pin('nothing', true)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  it('changes what no session has said', async () => {
    const { panel, memory } = panelOver()
    const { fact } = await memory
      .user({ userId: 'ada' })
      .facts.remember({ kind: 'preference', text: 'I prefer aisle seats.', trust: 'user' })
    await panel.pin(fact.id, true)
    expect((await panel.facts())[0]?.pinned).toBe(true)
    await panel.forget(fact.id)
    expect(await panel.facts()).toEqual([])
    expect(await listSessions(memory, { userId: 'ada' })).toEqual([])
  })

  it('has profile and skills', async () => {
    const { panel, memory } = panelOver()
    await panel.setProfile('SOUL.md', 'Be brief.')
    await memory
      .user({ userId: 'ada' })
      .skills.set({ name: 'booking', description: 'How to book.', text: 'Ask first.' })
    expect((await panel.profile()).map(({ name, text }) => [name, text])).toEqual([['SOUL.md', 'Be brief.']])
    expect((await panel.skills()).map(({ name, text }) => [name, text])).toEqual([['booking', 'Ask first.']])
  })

  it('gives all of it, takes it in elsewhere, and erases it', async () => {
    const one = panelOver()
    await one.session.append({ role: 'user', content: 'Hello' })
    await one.session.facts.remember({ kind: 'finding', text: 'The 9:40 is full.' })
    // Marks and what deletes are entries too, and no messages.
    await one.session.context()
    const lines = await collected(one.panel.export())
    const other = panelOver('bob')
    expect(await other.panel.import(given(lines))).toEqual({ messages: 1, facts: 1, refused: 0 })
    expect(await other.panel.import(given(lines))).toEqual({ messages: 0, facts: 0, refused: 0 })
    expect((await other.panel.facts()).map(({ text }) => text)).toEqual(['The 9:40 is full.'])
    expect((await one.panel.eraseAll()).removed.messages.count).toBe(1)
    expect(await one.panel.facts()).toEqual([])
    // A log that was erased takes nothing in; nobody hears that it did, nor sees its title.
    expect(await one.panel.import(given(lines))).toEqual({ messages: 0, facts: 0, refused: 1 })
    expect(await listSessions(one.memory, { userId: 'ada' })).toEqual([])
  })
})

describe('the panel of several homes', () => {
  it('is one: facts of all, each changed where it is, exported and imported together, all erased', async () => {
    const [one, two] = [panelOver('ada'), panelOver('ada')]
    const kept = []
    for (const { session } of [one, two]) {
      await session.append({ role: 'user', content: 'Hello' })
      kept.push((await session.facts.remember({ kind: 'finding', text: `Number ${kept.length}` })).fact.id)
    }
    const third = panelOver('eve')
    const both = allPanels(
      [
        { kind: 'local', memory: one.panel },
        { kind: 'edge', memory: two.panel },
      ],
      ['local', 'edge'],
      async (kind) => (kind === 'local' ? third.panel : two.panel),
    )
    expect([both.homes, both.destinations]).toEqual([
      ['local', 'edge'],
      ['local', 'edge'],
    ])
    expect((await both.facts()).map(({ text }) => text)).toEqual(['Number 0', 'Number 1'])
    await both.pin(kept[0] ?? '', false)
    await both.edit(kept[0] ?? '', { text: 'Number two' })
    expect((await one.panel.facts()).map(({ text }) => text)).toEqual(['Number two'])
    // What one home exports is a file of its own, and goes where the person says, cut anywhere.
    const file = (await collected(both.export('local'))).map((line) => `${line.trimEnd()}\n`).join('')
    const chunks = file.match(/[\s\S]{1,700}/g) ?? []
    // The old words of what was edited are in the file, and nowhere to be seen.
    expect(await both.import(given(chunks), 'local')).toEqual({ messages: 1, facts: 1, refused: 0 })
    expect(await both.import(given(chunks), 'local')).toEqual({ messages: 0, facts: 0, refused: 0 })
    expect((await third.panel.facts()).map(({ text }) => text)).toEqual(['Number two'])
    expect((await two.panel.facts()).map(({ text }) => text)).toEqual(['Number 1'])
    const { removed, already } = await both.eraseAll()
    expect([removed.messages.count, removed.sessions.count, already]).toEqual([2, 2, false])
    expect(await both.facts()).toEqual([])
    expect(await both.eraseAll()).toMatchObject({ already: true, removed: { messages: { count: 0 } } })
  })
})

/** A client of an edge that has this memory. */
function clientOf(memory: ReturnType<typeof panelOver>['memory'], userId: string): Client {
  const scope = { userId }
  return {
    me: {
      facts: memory.user(scope).facts,
      import: (text: string, options: ImportOptions) => importInto(memory, scope, [text], options),
    },
    sessions: { list: (options: { readonly after?: string }) => listSessions(memory, scope, options) },
    session: (sessionId: string) => {
      const session = memory.session({ userId, sessionId })
      return { facts: session.facts, messages: session.history.bind(session) }
    },
  } as unknown as Client
}

describe('a fact whose id is of two homes', () => {
  it('is two facts, each changed and found where it is', async () => {
    const homes: { readonly kind: HomeKind; readonly memory: HomeMemory }[] = []
    for (const kind of ['local', 'edge'] as const) {
      const { memory, panel } = panelOver()
      const session = memory.session({ userId: 'ada', sessionId: kind })
      await session.append({ id: `m-${kind}`, role: 'user', content: 'I like windows' })
      await session.facts.remember({ id: 'f', kind: 'preference', text: kind, sources: [`m-${kind}`] })
      homes.push({ kind, memory: panel })
    }
    const all = allPanels(homes, ['local', 'edge'], async () => panelOver().panel)
    const [local, edge] = await all.facts()
    expect([local?.text, edge?.text]).toEqual(['local', 'edge'])
    expect((await all.facts({ query: 'edge' })).map(({ id }) => id)).toEqual([edge?.id])
    for (const fact of [local, edge])
      expect(await all.origin(fact?.id ?? '')).toEqual({
        ...{ home: fact?.text, sessionId: fact?.text, messageId: `m-${fact?.text}` },
      })
    expect(await all.forget(edge?.id ?? '')).toMatchObject({ home: 'edge' })
    expect((await all.facts()).map(({ text }) => text)).toEqual(['local'])
    expect(await all.forget(local?.id ?? '')).toMatchObject({ home: 'local' })
  })
})

describe('where a fact was said', () => {
  it.each(['local', 'edge'] as const)('is its first message, while that is there, %s', async (kind) => {
    const { memory, panel, session } = panelOver()
    const home = kind === 'local' ? panel : edgePanel(clientOf(memory, 'ada'))
    await memory.session({ userId: 'ada', sessionId: 'other' }).append({ role: 'user', content: 'Else' })
    await session.append({ role: 'user', content: 'I like window seats' })
    await session.append({ role: 'assistant', content: 'Noted.' })
    const [said, noted] = await session.history()
    const sources = [said?.id ?? '', noted?.id ?? '']
    await session.facts.remember({ id: 'own', kind: 'finding', text: 'Sat at the window', sources })
    await session.facts.remember({
      id: 'all',
      kind: 'preference',
      text: 'Window',
      sources: [sources[0] ?? ''],
    })
    await session.facts.remember({ id: 'none', kind: 'preference', text: 'Nobody said it' })
    const all = allPanels([{ kind, memory: home }], [kind], async () => home)
    const origin = { home: kind, sessionId: 'trip', messageId: sources[0] }
    expect((await all.facts()).map(({ id, shared }) => [id, shared])).toContainEqual(['all', true])
    expect([await all.origin('own'), await all.origin('all')]).toEqual([origin, origin])
    expect([await all.origin('none'), await all.origin('gone')]).toEqual([undefined, undefined])
    const facts = (await session.facts.list()).map((fact) => ({ fact }))
    expect(facts.map(({ fact }) => fact.id)).toContain('own')
    await rewind(session, sources[0] ?? '')
    await session.append({ role: 'user', content: 'Something else' })
    expect([await all.origin('own'), await all.origin('all')]).toEqual([undefined, undefined])
    const elsewhere = panelOver()
    const sessionIds = async (): Promise<readonly string[]> => ['trip', 'x']
    // As after an import of the facts alone.
    await expect(
      originOf('own', facts, sessionIds, async () => elsewhere.session.history({ before: 'm' })),
    ).resolves.toBeUndefined()
  })
})

describe('the panel of an edge', () => {
  it('counts what an import adds there, whatever of it this browser has by then', async () => {
    const { panel, session } = panelOver()
    await session.append({ role: 'user', content: 'Hello' })
    await session.facts.remember({ kind: 'finding', text: 'The 9:40 is full.' })
    const lines = (await collected(panel.export())).map((line) => `${line.trimEnd()}\n`)
    const edge = edgePanel(clientOf(panelOver('bob').memory, 'bob'))
    // As a synced home has it: what is shown is read from here.
    const memory = { ...panelOver('bob').panel, import: edge.import }
    const all = allPanels([{ kind: 'edge', memory }], ['edge'], async () => memory)
    expect(await all.import(given(lines), 'edge')).toEqual({ messages: 1, facts: 1, refused: 0 })
    expect(await all.import(given(lines), 'edge')).toEqual({ messages: 0, facts: 0, refused: 0 })
    expect((await edge.facts()).map(({ text }) => text)).toEqual(['The 9:40 is full.'])
  })
})

describe('what the panel removes and adds', () => {
  it('is gone from the screen, and from the list', async () => {
    const chat = browser().open({ model })
    chat.sessions.subscribe(() => {})
    await chat.conversation.send('Trains to Turin')
    await until(chat, idle)
    const panel = await chat.memory()
    await panel.eraseAll()
    expect(chat.sessions.getSnapshot().sessions).toEqual([])
    expect(chat.conversation.getSnapshot().messages).toEqual([])
    const other = panelOver('bob')
    await other.session.append({ role: 'user', content: 'Hello' })
    await panel.import(given(await collected(other.panel.export())), 'local')
    expect(chat.sessions.getSnapshot().sessions.map(({ sessionId }) => sessionId)).toEqual(['trip'])
    await chat.close()
  })
})
