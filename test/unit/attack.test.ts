import { describe, expect, it } from 'vitest'
import type { Context, Store } from '../../src/index.ts'
import { play, type Sabotage } from '../attack/play.ts'
import { type Command, generate, type Program } from '../attack/program.ts'
import { shrunk } from '../attack/shrink.ts'
import { over } from '../attack/stores.ts'

const at = { scope: 0, tab: 0 } as const
const other = { scope: 1, tab: 0 } as const

function program(...commands: readonly Command[]): Program {
  return { store: 'map', counter: 'exact', line: 3_000, features: 'none', commands }
}

async function reasonOf(given: Program, sabotage: Sabotage): Promise<string | undefined> {
  expect((await play(given)).broken).toBeUndefined()
  return (await play(given, sabotage)).broken
}

describe('the attack', () => {
  it('finds nothing in some random programs', async () => {
    for (let seed = 1; seed <= 10; seed++) expect(await play(generate(seed))).not.toHaveProperty('broken')
  })

  it('finds a store that loses an acknowledged append', async () => {
    const said = (text: string): Command => ({ do: 'say', ...at, text })
    const given = program(said('a'), said('b'), said('c'))
    expect(await reasonOf(given, { store: forgetful() })).toContain('m-op-2')
  })

  it('finds a context that lacks the result of a call', async () => {
    const given = program(
      { do: 'call', ...at, calls: 1, again: false },
      { do: 'result', ...at, which: 0, text: 'a' },
      { do: 'context', ...at, as: 'plain', tools: 0, recall: false },
    )
    const context = (whole: Context): Context => ({
      ...whole,
      blocks: whole.blocks.filter(({ role }) => role !== 'tool'),
    })
    expect(await reasonOf(given, { context })).toBe('the last call has no result')
  })

  it('finds a scope that shows what was said in another one', async () => {
    const given = program(
      { do: 'say', ...at, text: 'a' },
      { do: 'say', ...other, text: 'b' },
      { do: 'context', ...other, as: 'plain', tools: 0, recall: false },
    )
    const store = (whole: Store): Store => ({
      ...over(whole, () => ({})),
      open: (scope) =>
        whole.open(scope.sessionId === undefined ? scope : { userId: 'all', sessionId: 'all' }),
    })
    expect(await reasonOf(given, { store })).toBe('a context of 1 shows wren')
  })

  it.each<[string, Sabotage['store'], readonly Command[], string]>([
    [
      'an update of a checkpoint that is lost to another tab',
      careless,
      [{ do: 'checkpoint', ...at, as: 'race' }],
      'the checkpoint lost an update',
    ],
    [
      'a document that is written over from an old version',
      careless,
      [{ do: 'document', ...at, as: 'race', name: 0, text: 'a' }],
      'documents: ',
    ],
    [
      'a text that stays after it was forgotten',
      hoarding,
      [
        { do: 'say', ...at, text: 'a' },
        { do: 'forget', ...at, of: 'message', which: 0 },
      ],
      'the log shows wren-1-mark, which was forgotten',
    ],
    [
      'a text that stays after its age',
      hoarding,
      [
        { do: 'say', ...at, text: 'a' },
        { do: 'say', ...at, text: 'b' },
        { do: 'wait', ...at, hours: 30 },
        { do: 'work', ...at },
      ],
      'retention left m-op-1, which is due',
    ],
    ['an attachment that is lost', blind, [{ do: 'file', ...at, as: 'named', which: 0 }], 'file-1 was lost'],
    [
      'a fact that is lost',
      empty,
      [
        { do: 'say', ...at, text: 'a' },
        { do: 'remember', ...at, kind: 'finding', from: 'message', which: 0, text: 'b' },
      ],
      'the fact wren-2-mark was lost',
    ],
  ])('finds %s', async (_, store, commands, reason) => {
    const given = { ...program(...commands), features: 'all', kept: { log: 1 } } as const
    expect(await reasonOf(given, store ? { store } : {})).toContain(reason)
  })

  it('finds a context that shows what was written over, and one without its tools', async () => {
    const context: Command = { do: 'context', ...at, as: 'plain', tools: 1, recall: true }
    const given: Program = {
      ...program(
        { do: 'say', ...at, text: 'a' },
        { do: 'document', ...at, as: 'set', name: 0, text: 'b' },
        context,
        { do: 'document', ...at, as: 'set', name: 0, text: 'c' },
        context,
      ),
      features: 'all',
    }
    let first: Context | undefined
    const stale = (built: Context): Context => {
      first ??= built
      return first
    }
    expect(await reasonOf(given, { context: stale })).toContain('which was written over')
    const bare = ({ tools: _, ...built }: Context): Context => built
    expect(await reasonOf(given, { context: bare })).toBe('OpenAI is not told of the tools look_up')
  })

  it('makes a program that fails as short as it can be', async () => {
    const { commands } = await shrunk(
      generate(3),
      async (candidate) => candidate.commands.filter((command) => command.do === 'say').length >= 2,
    )
    expect(commands.map((command) => command.do)).toEqual(['say', 'say'])
  })
})

/** Acknowledges the second append of a session, and writes nothing. */
function forgetful(): (store: Store) => Store {
  let appends = 0
  return (store) =>
    over(store, (opened, { sessionId }) => ({
      commit: async (ops, decide) => {
        const isAppend = sessionId !== undefined && ops.some(({ envelope }) => envelope.kind === 'append')
        if (!isAppend || ++appends !== 2) return opened.commit(ops, decide)
        const { seq } = await opened.head()
        return ops.map((_, place) => ({ status: 'accepted', seq: seq + 1 + place, applied: true }))
      },
    }))
}

/** Puts over whatever is there. */
function careless(store: Store): Store {
  return over(store, (opened) => ({
    commit: (ops, decide) =>
      opened.commit(ops, (given, rows) => {
        const based = given.map(({ envelope, ...op }) => {
          const base = rows.registers.get(envelope.key ?? '')?.version ?? null
          return { ...op, envelope: envelope.kind === 'put' ? { ...envelope, base } : envelope }
        })
        return decide(based, rows)
      }),
  }))
}

/** Keeps the bodies of what is deleted. */
function hoarding(store: Store): Store {
  return over(store, (opened) => ({
    commit: (ops, decide) => opened.commit(ops, (given, rows) => ({ ...decide(given, rows), emptied: [] })),
  }))
}

/** Keeps no attachments. */
function blind(store: Store): Store {
  return over(store, () => ({ attach: async () => 'stored' }))
}

/** Gives no facts. */
function empty(store: Store): Store {
  return over(store, (opened) => ({
    registers: async (prefix, after) =>
      (await opened.registers(prefix, after)).filter(({ key }) => !key.startsWith('fact/')),
  }))
}
