import { registerHooks } from 'node:module'
import type { ModelMessage, ToolSet } from 'ai'
import { createMemory } from '../../src/create-memory.ts'
import type { Counter } from '../../src/ports/counter.ts'
import { mapStore } from '../../src/stores/map.ts'
import type { Recorded, Request } from '../../test/ai-sdk/replay.ts'
import { LAST, type Loop, type Means, Script, SYSTEM } from './loop.ts'

type AI = typeof import('ai')
type Bridge = typeof import('../../src/bridges/ai-sdk/index.ts')
type Models = typeof import('../../test/peers/ai-sdk/model.ts')

/** The majors of the SDK, by the package that each is here. */
const PACKAGES: Readonly<Record<string, string>> = { 5: 'ai-5', 6: 'ai-6', 7: 'ai' }
const MAJOR = /[?&]ai=(\d)$/

// A module that is asked for with `?ai=5` is loaded once more, and what it imports with it.
registerHooks({
  resolve(name, context, next) {
    const [, major] = MAJOR.exec(context.parentURL ?? '') ?? []
    if (major === undefined) return next(name, context)
    if (name === 'ai') return next(PACKAGES[major] ?? name, { ...context, parentURL: import.meta.url })
    const found = next(name, context)
    return name.startsWith('./') ? { ...found, url: `${found.url}?ai=${major}` } : found
  },
})

/** What a call is given beside the model and the tools. */
type Given = Partial<Parameters<AI['generateText']>[0]> & { readonly settled?: () => Promise<void> }
type Ask = (user: string, before: readonly ModelMessage[]) => Promise<Given>

export const loops: readonly Loop[] = Object.keys(PACKAGES).map((major) => ({
  packages: [PACKAGES[major] as string],
  means: (counter: Counter, budget: number) => ({
    ours: meansOf(major, `plimsoll/ai-sdk, AI SDK ${major}`, ({ memoryLoop }, _, tools) => {
      const memory = createMemory({ store: mapStore(), budget, counter, system: SYSTEM })
      const session = memory.session({ userId: 'bench' })
      return async (user) => {
        await session.append({ role: 'user', content: user })
        // The same type, of two installations.
        return (await memoryLoop(session, { tools: tools as never })) as Given
      }
    }),
    theirs: [
      // With the options of its documentation but for the number; it has no token budget.
      meansOf(major, `pruneMessages of AI SDK ${major}, last ${LAST}`, (_, { pruneMessages }) => {
        return async (user, before) => ({
          system: SYSTEM,
          messages: [...before, { role: 'user', content: user }],
          prepareStep: ({ messages, initialMessages, responseMessages }) => ({
            messages: pruneMessages({
              messages: initialMessages ? [...initialMessages, ...responseMessages] : messages,
              reasoning: 'all',
              toolCalls: `before-last-${LAST}-messages`,
              emptyMessages: 'remove',
            }),
          }),
        })
      }),
    ],
  }),
}))

function meansOf(major: string, name: string, open: (bridge: Bridge, ai: AI, tools: ToolSet) => Ask): Means {
  const load = async <Module>(path: string): Promise<Module> => import(`${path}?ai=${major}`)
  return {
    name,
    play: async (recorded) =>
      play(recorded, open, {
        ai: (await import(PACKAGES[major] as string)) as AI,
        bridge: await load<Bridge>('../../src/bridges/ai-sdk/index.ts'),
        models: await load<Models>('../../test/peers/ai-sdk/model.ts'),
      }),
  }
}

async function play(
  recorded: Recorded,
  open: (bridge: Bridge, ai: AI, tools: ToolSet) => Ask,
  { ai, bridge, models }: { readonly ai: AI; readonly bridge: Bridge; readonly models: Models },
): Promise<Request[]> {
  const script = new Script()
  const { model, requests } = models.scripted(() => {
    const { text, calls } = script.next()
    const asked = calls.map(({ id, name, input }) => {
      return { toolCallId: id, toolName: name, input: input as object }
    })
    return { ...(text !== '' && { text }), calls: asked }
  })
  const tools: ToolSet = Object.fromEntries(
    recorded.tools.map((name) => [
      name,
      {
        description: `Runs ${name}.`,
        inputSchema: ai.jsonSchema({ type: 'object' }),
        execute: async (_: unknown, { toolCallId }: { toolCallId: string }) => script.resultOf(toolCallId),
      } as ToolSet[string],
    ]),
  )
  const ask = open(bridge, ai, tools)
  const before: ModelMessage[] = []
  for (const { user, replies } of recorded.rounds) {
    script.begin(replies)
    const { settled, ...given } = await ask(user, before)
    const result = await ai.generateText({
      model,
      tools,
      stopWhen: ai.stepCountIs(1_000),
      maxRetries: 0,
      ...given,
    } as Parameters<AI['generateText']>[0])
    await settled?.()
    // Since 7 those of the response are of the last step alone.
    before.push({ role: 'user', content: user }, ...(result.responseMessages ?? result.response.messages))
  }
  return requests as unknown as Request[]
}
