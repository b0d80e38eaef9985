import { describe, expect, it } from 'vitest'
import {
  charsPerToken,
  compaction,
  createMemory,
  type Feature,
  mapStore,
  type SectionUse,
  type ShowPart,
} from '../../src/index.ts'

type Part = 'read' | 'holds' | 'head' | 'since' | 'tail'

/** A feature that shows a note, and fails on demand. */
function notes() {
  const state = { note: 'one', fails: undefined as Part | undefined }
  const check = (part: Part): void => {
    if (state.fails === part) throw new Error(`${part} is ill`)
  }
  const section = (text: string, where: 'memory' | 'tail') => ({
    in: where,
    at: 1,
    name: 'notes',
    text,
    trust: 'user' as const,
  })
  const show: ShowPart<{ readonly note: string }> = {
    read: async () => {
      check('read')
      return { note: state.note }
    },
    holds: (frozen, { note }) => {
      check('holds')
      return frozen?.record === note || !note.startsWith('new')
    },
    head: ({ note }) => {
      check('head')
      return { sections: [section(`the note is ${note}`, 'memory')], sources: [], record: note }
    },
    since: (frozen, { note }) => {
      check('since')
      return frozen?.record === note ? undefined : { sections: [section(`since then ${note}`, 'tail')] }
    },
    tail: async () => {
      check('tail')
      return { sections: [section('always', 'tail')] }
    },
  }
  const feature: Feature<'notes'> = { name: 'notes', open: () => ({ show: show as ShowPart }) }
  return { state, feature }
}

function open() {
  const { state, feature } = notes()
  const store = mapStore()
  const memory = () =>
    createMemory({ store, budget: 4_000, counter: charsPerToken(4), use: [feature] }).session({
      userId: 'ada',
      sessionId: 'trip',
    })
  return { state, memory, session: memory() }
}

type Session = ReturnType<typeof open>['session']

async function look(session: Session) {
  const { blocks, epoch, receipt } = await session.context()
  const text = JSON.stringify(blocks)
  return {
    epoch,
    isFrozen: text.includes('the note is one'),
    failures: receipt.failures.map(({ part, message }) => `${part}: ${message}`),
    text,
  }
}

describe('a feature that fails while it shows', () => {
  for (const part of ['read', 'holds', 'head', 'since', 'tail'] as const)
    it(`in ${part}: what the epoch froze shows on, the epoch goes on, and the receipt says so once`, async () => {
      const { state, session, memory } = open()
      await session.append({ role: 'user', content: 'Hello.' })
      const before = await look(session)
      expect(before).toMatchObject({ isFrozen: true, failures: [] })
      state.note = part === 'head' ? 'new' : 'other'
      state.fails = part
      for (const one of [session, memory()]) {
        const after = await look(one)
        expect(after).toMatchObject({
          epoch: before.epoch,
          isFrozen: true,
          failures: [`notes: ${part} is ill`],
        })
      }
      state.fails = undefined
      expect((await look(session)).failures).toEqual([])
    })

  it('shows on in the next epoch too, and nothing is lost once it works again', async () => {
    const { state, session } = open()
    await session.append({ role: 'user', content: 'Hello.' })
    const { epoch } = await look(session)
    Object.assign(state, { note: 'new', fails: 'head' })
    const { epoch: next, receipt, blocks } = await session.context({ newEpoch: true })
    expect(next).not.toBe(epoch)
    expect(JSON.stringify(blocks)).toContain('the note is one')
    expect(receipt.failures).toMatchObject([{ part: 'notes' }])
    state.fails = undefined
    expect((await look(session)).text).toContain('the note is new')
  })

  it('has nothing to show where it fails from the first context on, which is built all the same', async () => {
    for (const part of ['read', 'head', 'tail'] as const) {
      const { state, session } = open()
      state.fails = part
      await session.append({ role: 'user', content: 'Hello.' })
      const { text, failures } = await look(session)
      expect(text).toContain('Hello.')
      expect(failures).toEqual([`notes: ${part} is ill`])
    }
  })
})

it('two features that stand for messages are refused when a session opens', () => {
  const other = { ...compaction(), name: 'digest' } as Feature<'digest'>
  const memory = createMemory({ store: mapStore(), budget: 4_000, use: [compaction(), other] })
  expect(() => memory.session({ userId: 'ada' })).toThrow(
    'session: use has compaction() and digest(): only one of them can stand for messages',
  )
})

describe('a tail for which there is no room', () => {
  const open = (use?: SectionUse) => {
    const section = { in: 'tail', at: 1, name: 'news', text: 'x'.repeat(400), trust: 'user' } as const
    const silent = { ...section, at: 2, name: 'silence', text: '' }
    const sections = [{ ...section, ...(use && { use }) }, silent]
    const feature: Feature<'news'> = {
      name: 'news',
      open: () => ({ show: { tail: async () => ({ sections }) } }),
    }
    const counter = charsPerToken(4)
    return createMemory({ store: mapStore(), budget: 80, counter, use: [feature] }).session({ userId: 'ada' })
  }
  const withheld = (tokens: number, items: number, first: readonly string[]) => [
    { name: 'news', tokens: 0, items: 0, overflow: { count: items, tokens, first } },
  ]

  it('does not show, and the receipt says how much of it is missing', async () => {
    const session = open()
    await session.append({ role: 'user', content: 'Hello.' })
    const { blocks, receipt } = await session.context()
    expect(blocks.map(({ section }) => section)).toEqual(['window'])
    expect(receipt.remembered).toEqual(withheld(100, 1, ['news']))
  })

  it('counts what the feature says that shows, and what it had left out itself', async () => {
    const session = open({
      name: 'news',
      tokens: 90,
      items: 3,
      overflow: { count: 2, tokens: 20, first: ['n7'] },
    })
    await session.append({ role: 'user', content: 'Hello.' })
    const { receipt } = await session.context()
    expect(receipt.remembered).toEqual(withheld(110, 5, ['n7']))
  })
})
