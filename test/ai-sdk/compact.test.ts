import { generateText, isStepCount, jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import {
  compact,
  type LoopOptions,
  memoryLoop,
  prepareStep,
  type StepToCompact,
  toToolSpecs,
} from '../../src/bridges/ai-sdk/index.ts'
import { compaction, createMemory, mapStore, type Session } from '../../src/index.ts'
import { called, said, scripted } from './scripted.ts'

const sessionOf = (options: object = {}): Session =>
  createMemory({
    store: mapStore(),
    budget: 16_000,
    window: { max: { tokens: 12_000 }, keep: { tokens: 1_000 } },
    ...options,
  }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
const tools = {
  read: tool({
    description: 'Reads a file.',
    inputSchema: jsonSchema({ type: 'object', properties: {} }),
    execute: async () => 'line '.repeat(800),
  }),
}

/** Runs a loop of so many steps. @returns what it was asked, and the epochs it began by hand */
async function run(session: Session, steps: number, compactWhen: LoopOptions['compactWhen']) {
  await session.append({ role: 'user', content: 'Read.' })
  const model = scripted((call) => (call < steps - 1 ? [called(`c${call}`, 'read', {})] : [said('Done.')]))
  const asked: StepToCompact[] = []
  const loop = await memoryLoop(session, {
    tools,
    compactWhen: (step) => {
      asked.push(step)
      return compactWhen?.(step) ?? false
    },
  })
  await generateText({ model, tools, stopWhen: isStepCount(steps), ...loop })
  const epochs = asked.flatMap(({ receipt: { epoch } }) =>
    typeof epoch === 'object' && epoch.cause === 'manual' ? epoch.id : [],
  )
  return { asked, compactions: new Set(epochs).size }
}

it('says what a compaction made of the request, and leaves the log as it is', async () => {
  const session = sessionOf({ use: [compaction()], system: 'You are brief.' })
  await run(session, 6, undefined)
  await session.append({ role: 'user', content: 'And now?' })
  const before = await session.history()
  const context = await session.context({ preview: true, tools: await toToolSpecs(tools) })
  const { instructions, messages, tokensBefore, tokensAfter, summary, omitted, receipt } = await compact(
    session,
    { tools },
  )
  expect(tokensBefore).toBe(context.receipt.used)
  expect(tokensAfter).toBeLessThan(tokensBefore / 2)
  expect(tokensAfter).toBe(receipt.used)
  expect(instructions?.[0]?.content).toBe('You are brief.')
  expect(JSON.stringify(messages)).toContain('And now?')
  expect(summary?.covers.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(3)
  expect(omitted).toEqual(receipt.omitted)
  expect(await session.history()).toEqual(before)
  // The next call goes on from it.
  expect((await session.context({ tools: await toToolSpecs(tools) })).receipt.epoch).toMatchObject({
    cause: 'manual',
  })
})

it('leaves out older messages where no summary is written, and says which', async () => {
  const session = sessionOf()
  await run(session, 6, undefined)
  const { summary, omitted } = await compact(session, { tools, onPending: 'abandon' })
  expect(summary).toBeUndefined()
  expect(omitted.map(({ reason }) => reason)).toContain('window')
})

it('compacts before a step for which the app asks for it, and tells it the size', async () => {
  expect((await run(sessionOf(), 8, () => false)).compactions).toBe(0)
  const { asked, compactions } = await run(sessionOf(), 12, ({ tokens }) => tokens > 2_000)
  expect(compactions).toBeGreaterThan(1)
  expect(asked.map(({ stepNumber }) => stepNumber)).toContain(11)
  expect(asked.every(({ cap, receipt, tokens }) => cap === 16_000 && receipt.used === tokens)).toBe(true)
})

it('does not compact again and again where that does not help', async () => {
  expect((await run(sessionOf(), 8, () => true)).compactions).toBe(1)
})

it('takes no promise for an answer, which would compact at each step', async () => {
  await expect(run(sessionOf(), 2, (async () => false) as never)).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
    message: expect.stringContaining('compactWhen'),
  })
})

it('refuses options that there are none of', async () => {
  const refused = { code: 'ERR_INVALID_ARGUMENT' }
  await expect(compact(sessionOf(), { newEpoch: true } as never)).rejects.toMatchObject(refused)
  await expect(compact(sessionOf(), null as never)).rejects.toMatchObject(refused)
  await expect(memoryLoop(sessionOf(), { preview: true } as never)).rejects.toMatchObject(refused)
  await expect(memoryLoop(sessionOf(), { compactWhen: 5 } as never)).rejects.toMatchObject(refused)
  for (const given of [5, { cache: 'yes' }, { tools: 5 }, { tools: { read: 5 } }] as never[]) {
    await expect(compact(sessionOf(), given)).rejects.toMatchObject(refused)
    await expect(memoryLoop(sessionOf(), given)).rejects.toMatchObject(refused)
  }
  expect(() => prepareStep(sessionOf(), 5 as never)).toThrowError(expect.objectContaining(refused))
})
