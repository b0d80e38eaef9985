import { describe, expect, it } from 'vitest'
import type { Context, Store } from '../../src/index.ts'
import { play, type Sabotage } from '../attack/play.ts'
import { type Command, generate, type Program } from '../attack/program.ts'
import { shrunk } from '../attack/shrink.ts'
import { over } from '../attack/stores.ts'

const at = { scope: 0, tab: 0 } as const
const other = { scope: 1, tab: 0 } as const

function program(...commands: readonly Command[]): Program {
  return { store: 'map', counter: 'exact', line: 3_000, features: false, commands }
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
      { do: 'context', ...at, as: 'plain' },
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
      { do: 'context', ...other, as: 'plain' },
    )
    const store = (whole: Store): Store => ({
      ...over(whole, (opened) => opened.commit.bind(opened)),
      open: (scope) =>
        whole.open(scope.sessionId === undefined ? scope : { userId: 'all', sessionId: 'all' }),
    })
    expect(await reasonOf(given, { store })).toBe('a context of 1 shows wren')
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
    over(store, (opened, { sessionId }) => async (ops, decide) => {
      const isAppend = sessionId !== undefined && ops.some(({ envelope }) => envelope.kind === 'append')
      if (!isAppend || ++appends !== 2) return opened.commit(ops, decide)
      const { seq } = await opened.head()
      return ops.map((_, place) => ({ status: 'accepted', seq: seq + 1 + place, applied: true }))
    })
}
