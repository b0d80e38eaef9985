import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isSince, needPeer } from '../../src/ports/peer.ts'

beforeEach(() => void vi.resetModules())
afterEach(() => {
  vi.unstubAllGlobals()
  for (const peer of PEERS) vi.doUnmock(peer)
})

const PEERS = [
  ...['react', 'vue', 'stemmer', 'dexie', 'ai', 'jose', 'marked'],
  ...['@hono/zod-openapi', '@ai-sdk/openai-compatible', 'workers-ai-provider'],
] as const

/** From here on, what imports the peer gets what an old version of it would be. */
function pretend(peer: (typeof PEERS)[number], change: (actual: Exports) => Exports): void {
  vi.doMock(peer, async (importActual) => change({ ...(await importActual<Exports>()) }))
}

type Exports = Record<string, unknown>

const refusal = (message: string) => expect.objectContaining({ code: 'ERR_NOT_CONFIGURED', message })

/** As little of a session as a refusal needs. */
const session = {} as never

describe('a peer that is too old', () => {
  it('is refused in one line, which says who needs what, and what is there', () => {
    expect(() => needPeer('plimsoll/x', '`peer` 3', false, '2.1.0')).toThrow(
      refusal('plimsoll/x: needs `peer` 3 or later, found 2.1.0'),
    )
    expect(() => needPeer('plimsoll/x', '`peer` 3', undefined)).toThrow(
      refusal('plimsoll/x: needs `peer` 3 or later, found an older one'),
    )
    expect(() => needPeer('plimsoll/x', '`peer` 3', {}, '3.0.0')).not.toThrow()
  })

  it.each([
    ['3.4.0', true],
    ['3.10.1', true],
    ['4.0.0-rc.1', true],
    ['10.0.0', true],
    ['3.3.13', false],
    ['2.7.16', false],
    ['', false],
    ['unknown', false],
    [undefined, false],
  ])('is known from a newer one by its numbers: %s since 3.4 is %s', (version, expected) => {
    expect(isSince(version, 3, 4)).toBe(expected)
  })

  it('of the major alone is as good as any of that major', () => {
    expect(isSince('4.0.1', 4)).toBe(true)
    expect(isSince('3.9.9', 4)).toBe(false)
  })
})

describe('with an old peer', () => {
  it('plimsoll/react refuses at the first hook, not when it is imported', async () => {
    pretend('react', (actual) => ({ ...actual, useSyncExternalStore: undefined, version: '17.0.2' }))
    const { useSnapshot } = await import('../../src/bridges/react.ts')
    expect(() => useSnapshot({ subscribe: () => () => {}, getSnapshot: () => 1 })).toThrow(
      refusal('plimsoll/react: needs `react` 18 or later, found 17.0.2'),
    )
  })

  it.each([
    ['3.3.13', (vue: Exports) => vue],
    ['2.7.16', (vue: Exports) => ({ ...vue, toValue: undefined })],
  ])('plimsoll/vue refuses at the first composable: %s', async (version, change) => {
    pretend('vue', (actual) => ({ ...change(actual), version }))
    const { useSession, useSnapshot } = await import('../../src/bridges/vue.ts')
    const message = `plimsoll/vue: needs \`vue\` 3.4 or later, found ${version}`
    expect(() => useSnapshot({ subscribe: () => () => {}, getSnapshot: () => 1 })).toThrow(refusal(message))
    expect(() => useSession({ session: () => session } as never, { userId: 'ada' })).toThrow(refusal(message))
  })

  it('plimsoll/stemmer refuses at the first word', async () => {
    pretend('stemmer', () => ({ default: () => '', stemmer: undefined }))
    const { englishStemmer } = await import('../../src/stemmer.ts')
    expect(() => englishStemmer.stem('walking')).toThrow(
      refusal('plimsoll/stemmer: needs `stemmer` 2 or later, found an older one'),
    )
  })

  it('plimsoll/dexie refuses when a store is made', async () => {
    pretend('dexie', () => ({ Dexie: Object.assign(() => {}, { semVer: '3.2.7' }) }))
    const { dexieStore } = await import('../../src/stores/dexie.ts')
    expect(() => dexieStore({ name: 'assistant' })).toThrow(
      refusal('plimsoll/dexie: needs `dexie` 4 or later, found 3.2.7'),
    )
  })

  it('plimsoll/ai-sdk refuses at each of its doors that the SDK calls', async () => {
    pretend('ai', (actual) => ({ ...actual, isStepCount: undefined, stepCountIs: undefined }))
    const { aiSdkModel, compact, memoryLoop, memoryMiddleware, prepareStep, writeStep } = await import(
      '../../src/bridges/ai-sdk/index.ts'
    )
    const refused = refusal('plimsoll/ai-sdk: needs `ai` 5 or later, found an older one')
    await expect(memoryLoop(session)).rejects.toEqual(refused)
    await expect(compact(session)).rejects.toEqual(refused)
    for (const door of [prepareStep, writeStep]) expect(() => door(session)).toThrow(refused)
    const named = { specificationVersion: 'v2', provider: 'test', modelId: 'old' }
    const older = { ...named, doStream: async () => {} } as never
    await expect(
      aiSdkModel(older)
        .complete({} as never)
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toEqual(refused)
    expect(() => memoryMiddleware(session)).toThrow(
      refusal('plimsoll/ai-sdk: needs `ai` 7 or later, found an older one'),
    )
  })

  it('plimsoll/hono refuses tokens and guests without jose 6', async () => {
    pretend('jose', (actual) => ({ ...actual, customFetch: undefined }))
    const { authenticatorOf, guestTokens, jwtAuthenticator } = await import('../../src/edge/hono.ts')
    const refused = refusal('plimsoll/hono: needs `jose` 6 or later, found an older one')
    const secret = 'a secret of at least thirty-two bytes'
    expect(() => jwtAuthenticator({ secret, issuer: 'i', audience: 'a' })).toThrow(refused)
    expect(() => guestTokens({ secret, clock: Date.now, newId: () => 'id' })).toThrow(refused)
    const { authenticate } = authenticatorOf({ GUEST_SECRET: secret })
    await expect(authenticate(new Request('https://edge.test/'))).rejects.toEqual(refused)
  })

  it('plimsoll/hono cannot be imported with zod 3, of which its schemas are made', async () => {
    pretend('@hono/zod-openapi', (actual) => ({
      ...actual,
      z: { ...(actual.z as Exports), looseObject: undefined },
    }))
    await expect(import('../../src/edge/hono.ts')).rejects.toEqual(
      refusal('plimsoll/hono: needs `zod` 4 or later, found an older one'),
    )
  })

  it('plimsoll/models refuses providers of an older specification', async () => {
    const older = { specificationVersion: 'v3' }
    pretend('@ai-sdk/openai-compatible', () => ({
      createOpenAICompatible: () => ({ chatModel: () => older }),
    }))
    pretend('workers-ai-provider', () => ({ createWorkersAI: () => () => older }))
    const { openAICompatibleModel, workersAIModel } = await import('../../src/edge/models/index.ts')
    const { webHost } = await import('../../src/platform/web.ts')
    expect(() =>
      openAICompatibleModel({ baseUrl: 'https://model.test', modelId: 'm', host: webHost }),
    ).toThrow(refusal('plimsoll/models: needs `@ai-sdk/openai-compatible` 3 or later, found an older one'))
    const model = workersAIModel({ binding: {} as never, modelId: 'm', host: webHost })
    await expect(
      model
        .complete({} as never)
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toEqual(refusal('plimsoll/models: needs `workers-ai-provider` 4 or later, found an older one'))
  })

  it('shows Markdown as it stands where its parser could not be fetched', async () => {
    const fetched = vi.fn(() => {
      throw new TypeError('Failed to fetch dynamically imported module')
    })
    pretend('marked', fetched)
    const { prose } = await import('../../src/chat/markdown/prose.ts')
    const { _$litDirective$: Prose, values } = prose('**bold**', {
      copyLabel: 'Copy',
      isGrowing: false,
    }) as unknown as Directed
    let shown = ''
    const replaceChildren = (...texts: readonly string[]): void => {
      shown = texts.join('')
    }
    const element = { classList: { toggle: () => true }, isConnected: true, replaceChildren }
    new Prose({ type: ELEMENT_PART }).update({ element }, values)
    await expect.poll(() => fetched.mock.calls).toHaveLength(1)
    expect(shown).toBe('**bold**')
  })
})

const ELEMENT_PART = 6

/** What lit makes of a directive in a template. */
interface Directed {
  readonly _$litDirective$: new (part: {
    readonly type: number
  }) => {
    update(part: { readonly element: unknown }, values: unknown): unknown
  }
  readonly values: unknown
}
