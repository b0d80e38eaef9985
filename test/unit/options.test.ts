import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { memoryLoop, memoryMiddleware, prepareStep, toAISDK } from '../../src/bridges/ai-sdk/index.ts'
import { aiSdkModel } from '../../src/bridges/ai-sdk/model.ts'
import { handleMcpRequest, memoryMcpServer } from '../../src/bridges/mcp/index.ts'
import { useSession } from '../../src/bridges/react.ts'
import { useSession as useVueSession } from '../../src/bridges/vue.ts'
import { createClient } from '../../src/client/index.ts'
import { loadO200k } from '../../src/counters/o200k.ts'
import { durableObjectMemory } from '../../src/durable-object.ts'
import { createApp } from '../../src/edge/app/create-app.ts'
import { guestTokens } from '../../src/edge/auth/guests.ts'
import { jwtAuthenticator } from '../../src/edge/auth/jwt.ts'
import { modelOf } from '../../src/edge/models/from-env.ts'
import { openAICompatibleModel } from '../../src/edge/models/openai-compatible.ts'
import { workersAIModel } from '../../src/edge/models/workers-ai.ts'
import * as plimsoll from '../../src/index.ts'
import { clientSource, sessionSource } from '../../src/inspector/model/source.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import {
  destroyKeptKeys,
  encryptedStore,
  keptKeys,
  passphraseKeys,
  secretKeys,
} from '../../src/stores/encrypted/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { describeStore } from '../contract/index.ts'

const {
  budget,
  changeRegister,
  checkContext,
  checkpoint,
  compaction,
  contextFilter,
  createMemory,
  explain,
  extraction,
  facts,
  factSheet,
  forget,
  importInto,
  mapStore,
  observability,
  profile,
  progress,
  recall,
  retention,
  rewind,
  runAgent,
  scriptedModel,
  skills,
  slidingWindow,
  standard,
  standardMiddleware,
  toAnthropic,
  stringifyAnthropic,
  stringifyOpenAI,
  stringifyOpenAIResponses,
  toOpenAI,
  toOpenAIResponses,
  toOtlp,
} = plimsoll

/** Given where only options are wrong. */
type Options = never
const ada = { userId: 'ada' }
const model = scriptedModel(['Hello.'])
const fact = { kind: 'preference', text: 'A window seat.' } as const
const said = { role: 'user', content: 'Hello.' } as const

/** A memory with all features in use, and how much was written to it. */
async function open() {
  const store = mapStore()
  const memory = createMemory({
    store,
    budget: 16_000,
    use: [...standard({ checkpoint: { initial: { done: 0 } } }), recall()],
  })
  const session = memory.session({ ...ada, sessionId: 'trip' })
  const user = memory.user(ada)
  await session.append({ ...said, id: 'm1' })
  const context = await session.context()
  const { fact: kept } = await session.facts.remember(fact)
  const written = async () => {
    const heads = [store.open(ada).head(), store.open({ ...ada, sessionId: 'trip' }).head()]
    return [await store.oldestUnused(), ...(await Promise.all(heads)).map(({ seq }) => seq)]
  }
  return { memory, session, user, context, kept: kept.id, written }
}

type Opened = Awaited<ReturnType<typeof open>>
type Call = (options: never, opened: Opened) => unknown

const client = (given: Options) =>
  createClient({ baseUrl: 'http://127.0.0.1:9', token: 'ada', ...(given as object) })

/** All that takes options, by what it is called. */
const calls: { readonly [name: string]: Call } = {
  budget: (given) => budget(given),
  contextFilter: (given) => contextFilter(given),
  factSheet: (given) => factSheet(given),
  observability: (given) => observability(given),
  toOtlp: (given) => toOtlp([], given),
  progress: (given) => progress(given),
  standardMiddleware: (given) => standardMiddleware(given),
  'standardMiddleware({ progress })': (given) => standardMiddleware({ progress: given }),
  runAgent: (given) => runAgent(given && { input: 'Hello.', model, ...(given as object) }),
  'runAgent({ resume })': (given, { session }) => runAgent({ model, session, resume: given }),
  'runAgent({ timeouts })': (given) => runAgent({ input: 'Hello.', model, timeouts: given }),
  'runAgent({ limits })': (given, { session }) =>
    runAgent({ input: 'Hello.', model, session, limits: given }),
  scriptedModel: (given) => scriptedModel([], given),

  createMemory: (given) => createMemory(given && { store: mapStore(), budget: 300, ...(given as object) }),
  'createMemory({ budget })': (given) => createMemory({ store: mapStore(), budget: given }),
  'createMemory({ window })': (given) => createMemory({ store: mapStore(), budget: 300, window: given }),
  'createMemory({ toolOutput })': (given) =>
    createMemory({ store: mapStore(), budget: 300, toolOutput: given }),
  slidingWindow: (given) => slidingWindow(given as never),
  checkpoint: (given) => checkpoint(given),
  compaction: (given) => compaction(given),
  extraction: (given) => extraction(given),
  facts: (given) => facts(given),
  'facts({ caps })': (given) => facts({ caps: given }),
  profile: (given) => profile(given),
  recall: (given) => recall(given),
  retention: (given) => retention(given && { log: { days: 1 }, ...(given as object) }),
  'retention({ log })': (given) => retention({ log: given && { days: 1, ...(given as object) } }),
  skills: (given) => skills(given),
  standard: (given) => standard(given),
  changeRegister: (given, { memory }) => {
    const { store, host } = (
      memory as never as plimsoll.Memory & { [plimsoll.KERNEL]: plimsoll.KernelMemory }
    )[plimsoll.KERNEL]
    const change = { operation: 'x', key: 'x', change: () => 1 }
    return changeRegister(store.open(ada), host, given && { ...change, ...(given as object) })
  },

  'memory.session': (given, { memory }) => memory.session(ada, given),
  'memory.session(scope)': (given, { memory }) => memory.session(given && { ...ada, ...(given as object) }),
  'memory.user(scope)': (given, { memory }) => memory.user(given && { ...ada, ...(given as object) }),
  'session.append': (given, { session }) => session.append(said, given),
  'session.commit(input)': (given, { session }) => session.commit(given),
  'session.commit': (given, { session }) => session.commit({ messages: said }, given),
  'session.context': (given, { session }) => session.context(given),
  'session.context({ limits })': (given, { session }) => session.context({ limits: given }),
  'session.history': (given, { session }) => session.history(given),
  'session.checkpoint.get': (given, { session }) => session.checkpoint.get(given),
  'session.checkpoint.set': (given, { session }) => session.checkpoint.set({ done: 1 }, given),
  'session.checkpoint.update': (given, { session }) => session.checkpoint.update((state) => state, given),
  'session.checkpoint.delete': (given, { session }) => session.checkpoint.delete(given),
  'session.compaction.run': (given, { session }) => session.compaction.run(given),
  'session.facts.remember': (given, { session }) => session.facts.remember(fact, given),
  'session.facts.remember(fact)': (given, { session }) =>
    session.facts.remember(given && { ...fact, ...(given as object) }),
  'session.facts.list': (given, { session }) => session.facts.list(given),
  'session.facts.promote': (given, { session, kept }) => session.facts.promote(kept, given),
  'session.facts.supersede(fact)': (given, { session, kept }) =>
    session.facts.supersede(kept, given && { ...fact, ...(given as object) }),
  'session.commit({ facts })': (given, { session }) =>
    session.commit({ facts: [given && { ...fact, ...(given as object) }] }),
  'session.recall.find': (given, { session }) => session.recall.find('seat', given),
  'session.recall.page': (given, { session }) => session.recall.page('seat', given),
  'user.facts.remember(fact)': (given, { user }) =>
    user.facts.remember(given && { ...fact, ...(given as object) }),
  'user.facts.list': (given, { user }) => user.facts.list(given),
  'user.facts.promote': (given, { user, kept }) => user.facts.promote(kept, given),
  'user.facts.supersede(fact)': (given, { user, kept }) =>
    user.facts.supersede(kept, given && { ...fact, ...(given as object) }),
  'user.profile.set': (given, { user }) => user.profile.set('SOUL.md', 'Kind.', given),
  'user.profile.update': (given, { user }) => user.profile.update('SOUL.md', () => 'Kind.', given),
  'user.profile.delete': (given, { user }) => user.profile.delete('SOUL.md', given),
  'user.recall.find': (given, { user }) => user.recall.find('seat', given),
  'user.skills.list': (given, { user }) => user.skills.list(given),
  'user.skills.set': (given, { user }) =>
    user.skills.set({ name: 'tides', description: 'Reads tide tables.', text: '' }, given),
  'user.skills.delete': (given, { user }) => user.skills.delete('tides', given),

  attach: (given, { session }) =>
    plimsoll.attach(
      session,
      given && { mediaType: 'image/png', bytes: new Uint8Array(1), ...(given as object) },
    ),
  changeSettings: (given, { memory }) => plimsoll.changeSettings(memory, ada, given),
  checkContext: (given, { session }) => checkContext(session, given),
  editMessage: (given, { session }) => plimsoll.editMessage(session, 'm1', said, given),
  eraseUser: (given, { memory }) => plimsoll.eraseUser(memory, given && { ...ada, ...(given as object) }),
  checkPushed: (given, { memory }) => plimsoll.checkPushed(memory, ada, [], given),
  exportFrom: (given, { memory }) => plimsoll.exportFrom(memory, ada, given),
  exportMarkdown: (given, { session }) => plimsoll.exportMarkdown(session, given),
  forget: (given, { session }) => forget(session, 'm1', given),
  vectorSearch: (given) =>
    plimsoll.vectorSearch((given && { id: 'm', embed: async () => [], ...(given as object) }) as never),
  lease: (given) => plimsoll.lease((given && { holder: 'page', ...(given as object) }) as never),
  importInto: (given, { memory }) => plimsoll.importInto(memory, ada, [], given),
  listSessions: (given, { memory }) => plimsoll.listSessions(memory, ada, given),
  readAudit: (given, { memory }) => plimsoll.readAudit(memory, ada, given),
  readSource: (given, { session }) => plimsoll.readSource(session, '#1', given),
  rewind: (given, { session }) => rewind(session, 'm1', given),
  start: (given, { session }) => plimsoll.start(session, given),
  switchTo: (given, { session }) => plimsoll.switchTo(session, 'm1', given),
  undo: (given, { session }) => plimsoll.undo(session, undefined, given),

  explain: (given, { context }) => explain(context, 'anthropic', given),
  toAnthropic: (given, { context }) => toAnthropic(context, given),
  toOpenAI: (given, { context }) => toOpenAI(context, given),
  toOpenAIResponses: (given, { context }) => toOpenAIResponses(context, given),
  stringifyAnthropic: (given, { context }) => stringifyAnthropic(context, {}, given),
  stringifyOpenAI: (given, { context }) => stringifyOpenAI(context, {}, given),
  stringifyOpenAIResponses: (given, { context }) => stringifyOpenAIResponses(context, {}, given),

  durableObjectMemory: (given) =>
    durableObjectMemory({ storage: {} as never }, given && { budget: 300, ...(given as object) }),
  dexieStore: (given) => dexieStore(given && { name: 'x', ...(given as object) }),
  sqliteStore: (given) => sqliteStore(given && ({ path: ':memory:', ...(given as object) } as never)),
  encryptedStore: (given) => encryptedStore(mapStore(), secretKeys('x'.repeat(32)), given),
  keptKeys: (given) => keptKeys(given && { name: 'x', ...(given as object) }),
  destroyKeptKeys: (given) => destroyKeptKeys(given && { name: 'x', ...(given as object) }),
  passphraseKeys: (given) => passphraseKeys('x', given),
  loadO200k: (given) => loadO200k(given),
  createClient: (given) =>
    createClient(given && { baseUrl: 'http://127.0.0.1:9', token: 'ada', ...(given as object) }),
  'createClient({ retry })': (given) => client({ retry: given } as never),
  'client.sessions.get': (given) => client({} as never).sessions.get('trip', given),
  'client.session.forget': (given) =>
    client({} as never)
      .session('trip')
      .forget('m1', given),
  prepareStep: (given, { session }) => prepareStep(session, given),
  memoryLoop: (given, { session }) => memoryLoop(session, given && { messages: [], ...(given as object) }),
  memoryMiddleware: (given, { session }) => memoryMiddleware(session, given),
  aiSdkModel: (given) => aiSdkModel({ specificationVersion: 'v4', doStream: () => {} } as never, given),
  toAISDK: (given, { context }) => toAISDK(context, given),
  handleMcpRequest: (given, { session }) =>
    handleMcpRequest(session, new Request('http://127.0.0.1/', { method: 'POST' }), given),
  memoryMcpServer: (given, { session }) => memoryMcpServer(session, given),
  sessionSource: (given, { session }) => sessionSource(session, given),
  clientSource: (given) => clientSource({ sessionId: 'trip' } as never, given),
  'useSession(scope) of plimsoll/react': (given, { memory }) => {
    const scope = given && { ...ada, ...(given as object) }
    const Shown = () => createElement('p', null, useSession(memory, scope).messages.length)
    return renderToString(createElement(Shown))
  },
  'useSession(scope) of plimsoll/vue': (given, { memory }) =>
    useVueSession(memory, given && { ...ada, ...(given as object) }),
  describeStore: (given) => describeStore('x', () => mapStore(), given),
}

/** The same of what configures an edge, whose caller is not at fault. */
const settings: { readonly [name: string]: (options: never) => unknown } = {
  jwtAuthenticator: (given) =>
    jwtAuthenticator(given && { secret: 'x'.repeat(32), issuer: 'x', audience: 'x', ...(given as object) }),
  guestTokens: (given) =>
    guestTokens(given && { secret: 'x'.repeat(32), clock: Date.now, newId: () => 'x', ...(given as object) }),
  modelOf: (given) => modelOf({}, given && { isDevelopment: true, ...(given as object) }),
  openAICompatibleModel: (given) =>
    openAICompatibleModel(given && { baseUrl: 'http://127.0.0.1:9', modelId: 'x', ...(given as object) }),
  workersAIModel: (given) =>
    workersAIModel(given && { binding: {} as never, modelId: 'x', ...(given as object) }),
}

/** What a call throws, or rejects with. */
async function failureOf(call: Call, given: unknown, opened: Opened): Promise<unknown> {
  try {
    await call(given as never, opened)
  } catch (error) {
    return error
  }
  return undefined
}

describe('what takes options', () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`refuses one that it does not know, before anything is written: ${name}`, async () => {
      const opened = await open()
      const before = await opened.written()
      expect(await failureOf(call, { other: 1 }, opened)).toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: expect.stringMatching(/(^|\.)other$/),
        message: expect.stringMatching(/\bother is not known/),
      })
      expect(await opened.written()).toEqual(before)
    })

    it(`refuses null in their place: ${name}`, async () => {
      const opened = await open()
      const before = await opened.written()
      expect(await failureOf(call, null, opened)).toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
      expect(await opened.written()).toEqual(before)
    })
  }
})

/** What is exported and takes no options. */
const without = [
  ...['PlimsollError', 'Filling', 'lawChecker', 'charsPerToken', 'calibrated', 'mapStore', 'provide', 'slot'],
  ...[
    'assertFits',
    'compose',
    'count',
    'countMessage',
    'diffContexts',
    'extractFacts',
    'inlineAttachments',
    'overBudget',
    'tokens',
  ],
  ...[
    'fromAnthropicMessages',
    'fromOpenAIMessages',
    'parseAnthropicReply',
    'parseOpenAIReply',
    'parseOpenAIResponse',
  ],
  ...[
    'isPlimsollError',
    'lintPrefix',
    'lintRequest',
    'cacheReport',
    'stringifyContext',
    'toMarkdown',
    'fromMarkdown',
    'versionsIn',
  ],
  ...[
    'addExchange',
    'clearLog',
    'contextAt',
    'deleteSession',
    'findSession',
    'forgetFact',
    'counterFor',
    'familyOf',
    'memoryTools',
    'memoryToolSpecs',
    'leaseOf',
    'nextWorkAt',
    'runMemoryTool',
    'readAttachment',
  ],
  ...['readBranches', 'readRegister', 'readSettings', 'runDueWork', 'titleSession'],
]

/** What a session or a user can do without options. */
const plain = [
  ...[
    'session.close',
    'session.subscribe',
    'session.getSnapshot',
    'session.skills.load',
    'session.skills.unload',
  ],
  ...['session.skills.loaded', 'session.compaction.settled', 'session.compaction.subscribe'],
  ...['get', 'resolve', 'pin', 'unpin', 'review'].map((name) => `session.facts.${name}`),
  ...['user.profile.list', 'user.profile.get', 'user.skills.get'],
]

describe('the table of what takes options', () => {
  const listed = new Set(Object.keys(calls).map((name) => name.replace(/\(.*/, '')))

  it('has all that is exported', () => {
    const exported = Object.entries(plimsoll).flatMap(([name, one]) =>
      typeof one === 'function' ? [name] : [],
    )
    expect(exported.filter((name) => !listed.has(name)).sort()).toEqual([...without].sort())
  })

  it('has all that a session and a user can do', async () => {
    const { session, user } = await open()
    const methodsOf = (path: string, one: object): readonly string[] =>
      Object.entries(one).flatMap(([name, value]) => {
        if (typeof value === 'function') return [`${path}.${name}`]
        return typeof value === 'object' && value !== null ? methodsOf(`${path}.${name}`, value) : []
      })
    const all = [...methodsOf('session', session), ...methodsOf('user', user)]
    expect(all.filter((name) => !listed.has(name)).sort()).toEqual([...plain].sort())
  })
})

describe('what configures an edge', () => {
  for (const [name, configure] of Object.entries(settings))
    it(`refuses what it does not know: ${name}`, () => {
      const refused = (says: string) =>
        expect.objectContaining({ code: 'ERR_NOT_CONFIGURED', message: expect.stringContaining(says) })
      expect(() => configure({ other: 1 } as never)).toThrow(refused('other is not known'))
      expect(() => configure(null as never)).toThrow(refused('must be an object'))
    })
})

describe('what an app of the edge is given', () => {
  it('is the edge’s fault where it has something else', async () => {
    const given = { objects: {} as never, authenticate: async () => undefined, log: () => {} }
    const app = createApp(() => ({ ...given, other: 1 }))
    const answer = await app.request('/health', {}, {})
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'ERR_NOT_CONFIGURED' })
  })
})

describe('values that an option cannot have', () => {
  const flag = 'must be one of true, false'
  const run =
    (isWithSession = true): Call =>
    (given, { session }) =>
      runAgent({ input: 'Hello.', model, ...(isWithSession && { session }), ...(given as object) })
  const wrong: readonly (readonly [string, string, Call])[] = [
    ['pinned', `promote: pinned ${flag}`, (given, { session, kept }) => session.facts.promote(kept, given)],
    ['preview', `context: preview ${flag}`, (given, { session }) => session.context(given)],
    ['newEpoch', `context: newEpoch ${flag}`, (given, { session }) => session.context(given)],
    ['session', 'runAgent: session must be a session', run(false)],
    ['signal', 'runAgent: signal must be an object with addEventListener()', run()],
    ['lease', 'runAgent: lease must be an object with hold()', run()],
    ['onEvent', 'runAgent: onEvent must be a function', run()],
    ['settings', 'runAgent: settings must be an object', run()],
    ['resume', `runAgent: resume ${flag}`, run()],
  ]
  for (const [name, says, call] of wrong)
    it(`are refused before anything is written: ${name}`, async () => {
      const opened = await open()
      const before = await opened.written()
      expect(await failureOf(call, { [name]: 5 }, opened)).toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        message: says,
      })
      expect(await opened.written()).toEqual(before)
    })

  it('are refused where they are no value at all, or are not awaited', async () => {
    const { session, memory, user } = await open()
    const refused = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
    for (const given of [null, Promise.resolve(session)]) {
      const run = runAgent({ input: 'Hello.', model, session: given as never })
      await expect(Promise.resolve(run)).rejects.toEqual(refused('session'))
    }
    const settings = { max_tokens: 100 } as never
    await expect(Promise.resolve(runAgent({ input: 'Hi.', model, settings }))).rejects.toEqual(
      refused('settings.max_tokens'),
    )
    for (const listener of [undefined, null, 'no', {}] as never[]) {
      expect(() => session.subscribe(listener)).toThrow(refused('listener'))
      expect(() => session.compaction.subscribe(listener)).toThrow(refused('listener'))
      await expect(user.profile.update('SOUL.md', listener)).rejects.toEqual(refused('change'))
    }
    for (const id of [Number.NaN, null, '', 7] as never[])
      await expect(plimsoll.undo(session, id)).rejects.toEqual(refused('rewind'))
    for (const chunks of [undefined, null, 7, {}, Promise.resolve('')] as never[])
      await expect(importInto(memory, ada, chunks)).rejects.toEqual(refused('lines'))
  })

  it('are refused by what takes one thing alone, a promise before all', () => {
    const takers: readonly (readonly [string, (given: never) => unknown])[] = [
      ['rounds', plimsoll.extractFacts],
      ['records', toOtlp],
      ['model', plimsoll.familyOf],
      ['session', plimsoll.memoryTools],
      ['session', plimsoll.memoryToolSpecs],
      ['skill', plimsoll.toMarkdown],
      ['script', (given) => scriptedModel(given)],
      ['script', (given) => scriptedModel([], { summaries: given ?? null })],
      ['chars', (given) => plimsoll.charsPerToken(given ?? '4')],
      ['lease.ms', (given) => plimsoll.lease({ holder: 'browser', ms: given ?? '1500' })],
    ]
    for (const [argument, take] of takers)
      for (const given of [undefined, null, true, Promise.resolve([])] as never[])
        expect(() => take(given)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }))
    expect(() => scriptedModel('Hello.' as never)).toThrow('script must be a list')
  })

  it('are refused in a checkpoint that begins with what is no JSON', () => {
    for (const initial of [Number.NaN, Promise.resolve({}), new Map([['done', 1]])] as never[])
      expect(() => checkpoint({ initial })).toThrow('checkpoint: initial')
  })

  it('are refused in a scripted reply, of which nothing would be said', async () => {
    const { session } = await open()
    const run = runAgent({ session, model: scriptedModel([{ txt: 'Hello.' } as never]), input: 'Hi.' })
    await expect(Promise.resolve(run)).rejects.toThrow('scriptedModel: reply.txt')
  })

  it('are refused in a counter that is calibrated', () => {
    for (const counter of [null, {}])
      expect(() => plimsoll.calibrated(counter as never)).toThrow('calibrated: counter must be a counter')
  })

  it('are a failure of the context filter where it proposes them', async () => {
    const { beforeModelCall } = contextFilter(() => ({ round: 5 }) as never).start({} as never)
    await expect(beforeModelCall?.({ step: 1 } as never)).rejects.toThrow('contextFilter: round is not known')
  })
})
