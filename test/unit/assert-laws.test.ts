import { describe, expect, it } from 'vitest'
import { LawChecker, lawChecker } from '../../src/assert-laws.ts'
import { type Block, type Context, charsPerToken, mapStore } from '../../src/index.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { type FullMemory, type FullMemoryOptions, fullMemory } from '../contract/full-memory.ts'
import { answer, calls, result, user } from './support/messages.ts'

function memoryInDevelopment(options: Partial<FullMemoryOptions> = {}): FullMemory {
  const given = { store: mapStore(), budget: 1_000, counter: charsPerToken(4), laws: lawChecker }
  return fullMemory({ ...given, ...options })
}

/** A context that keeps all laws, over a log of three messages. */
async function lawful(): Promise<Context> {
  const session = memoryInDevelopment().session({ userId: 'ada' })
  await session.append([user('u'), calls('a', 'c'), result('t', 'c')])
  return session.context()
}

const law = (number: number): { code: string; message: unknown } => ({
  code: 'ERR_LAW_BROKEN',
  message: expect.stringContaining(`law ${number} is broken`),
})

function broken(context: Context, messages = 3): unknown {
  try {
    new LawChecker().check(context, messages)
  } catch (error) {
    return error
  }
  return undefined
}

describe('a context that is checked in development', () => {
  it('passes where all laws hold', async () => {
    expect(broken(await lawful())).toBeUndefined()
  })

  it('breaks law 1 above the line, the margin included', async () => {
    const context = await lawful()
    const { receipt } = context
    const over = { ...context, receipt: { ...receipt, used: Number(receipt.cap) - receipt.margin + 1 } }
    expect(broken(over)).toMatchObject(law(1))
  })

  it('breaks law 2 with a call without its result, and a result without its call', async () => {
    const context = await lawful()
    const without = (role: Block['role']): Context => ({
      ...context,
      blocks: context.blocks.filter((block) => block.role !== role),
    })
    expect(broken(without('tool'))).toMatchObject(law(2))
    expect(broken(without('assistant'))).toMatchObject(law(2))
  })

  it('breaks law 4 where a message is neither shown nor covered nor omitted, or both', async () => {
    const context = await lawful()
    expect(broken(context, 4)).toMatchObject(law(4))
    const covers = [{ from: 'u', to: 'u', count: 1 }]
    const summary = {
      id: 's',
      place: 1,
      covers,
      trust: 'user',
      by: 'test',
      lost: { count: 0, first: [] },
    } as const
    const twice = { ...context, receipt: { ...context.receipt, summary } }
    expect(broken(twice)).toMatchObject(law(4))
    expect(broken(twice, 4)).toBeUndefined()
  })

  it('breaks law 5 where what an epoch showed before is shown otherwise, its tail aside', async () => {
    const context = await lawful()
    const [first] = context.blocks as readonly [Block]
    const changed = [
      { ...first, parts: [{ type: 'text' as const, text: 'else' }] },
      ...context.blocks.slice(1),
    ]
    const checker = new LawChecker()
    checker.check({ ...context, blocks: [...context.blocks, { ...first, section: 'tail', from: [] }] }, 3)
    checker.check(context, 3)
    expect(() => checker.check({ ...context, blocks: changed }, 3)).toThrow('law 5 is broken')
    checker.check({ ...context, epoch: 'another', blocks: changed }, 3)
  })

  it('holds nothing to a preview, which no epoch was saved for', async () => {
    const session = memoryInDevelopment().session({ userId: 'ada' })
    await session.append([user('u'), user('v')])
    const { epoch } = await session.context({ preview: true })
    await session.append(answer('a'), { round: 'u' })
    expect((await session.context()).epoch).toBe(epoch)
  })

  it('begins again with a log that was deleted, under names of its own', async () => {
    let secrets = 0
    const memory = memoryInDevelopment({ newSecret: () => `${++secrets}`.repeat(64) })
    const session = memory.session({ userId: 'ada' })
    const { epoch } = await session.context()
    await session.append(user('u'))
    await session.context()
    await deleteSession(memory, { userId: 'ada' }, 'default')
    expect((await session.context()).epoch).not.toBe(epoch)
  })
})
