import { describe, expect, test } from 'vitest'
import { charsPerToken } from '../../../src/counters/simple.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { MessageInput } from '../../../src/ports/message.ts'
import type { LogRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import { SCOPE } from '../../../src/replay/plimsoll.ts'
import { readConversation } from '../../../src/replay/transcript.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { type CrashSettings, crash as crashOf } from '../../crash/crash.ts'
import { type Boundary, Fate, Life } from '../../crash/mortal.ts'
import { playOf } from '../../crash/play.ts'
import { isWhole } from '../../everywhere/runs.ts'
import { assistant, trip, user } from '../support/recordings.ts'

const calling = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id, place) => ({
    id,
    type: 'function',
    function: { name: `look_${place}`, arguments: JSON.stringify({ place }) },
  })),
})
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
const words = (name: string) => `${name} ${'of the harbour and the tide '.repeat(20)}`

/**
 * Parallel calls, ids that are used again, also within one reply, results out of order, and calls
 * that nobody answered.
 */
const parallel = {
  id: 'parallel',
  format: 'openai',
  messages: [
    assistant('Good day.'),
    user('Look around, please.'),
    calling('a', 'b', 'c', 'd'),
    result('c', words('third')),
    result('a', words('first')),
    result('b', words('second')),
    result('d', words('fourth')),
    calling('a', 'a', 'b'),
    result('a', words('fifth')),
    result('a', words('sixth')),
    result('b', words('seventh')),
    assistant('A harbour. Is that all?'),
    user('No.'),
    user('Look once more.'),
    calling('a', 'e'),
    result('a', words('eighth')),
    user('That is enough.'),
    assistant('I stop.'),
    assistant('And one thing.'),
    user('Yes?'),
    calling('f'),
    result('f', words('ninth')),
  ],
}

const settings: CrashSettings = {
  budget: 600,
  counter: charsPerToken(),
  kills: 12,
  seed: 1,
  stores: mapStore,
}

/** @param count random ones; a push has a quarter of them */
const seeds = (count: number) => [...Array(isWhole ? count : count / 4).keys()].map((at) => at + 1)

const crash = (more: Partial<CrashSettings> = {}, conversation: object = parallel) =>
  crashOf(readConversation(JSON.stringify(conversation), 1), { ...settings, ...more })

describe('an agent that is killed and resumed', () => {
  test.each([{}, { compact: true }, { compact: true, rounds: 4, keep: 2 }])(
    'ends the sample conversation the same wherever it is killed, with %j',
    async (more) => {
      const conversation = JSON.parse(trip['trip.jsonl'])
      for (const seed of seeds(4)) {
        const crashed = await crash({ budget: 3_000, kills: 20, seed, ...more }, conversation)
        expect(crashed).toMatchObject({ kills: 20, refused: 0, differences: [] })
        expect(crashed.resumed).toBeGreaterThanOrEqual(10)
      }
    },
  )

  test('settles calls that wait, parallel ones too, with what was recorded', async () => {
    let settled = 0
    const tried = seeds(60)
    for (const seed of tried) {
      const crashed = await crash({ seed, compact: seed % 2 === 0 })
      expect(crashed).toMatchObject({ refused: 0, differences: [] })
      expect(crashed.kills).toBeGreaterThan(6)
      settled += crashed.settled
    }
    expect(settled).toBeGreaterThan(tried.length)
  })

  test('is killed at the same points by the same seed, and at others by another', async () => {
    const runs = await Promise.all([3, 3, 4].map((seed) => crash({ seed })))
    expect(runs[0]).toEqual(runs[1])
    expect(runs[0]).not.toEqual(runs[2])
  })

  test('goes on after a run that the line refuses, as often as without kills', async () => {
    const huge = {
      ...parallel,
      messages: [user(words('x ').repeat(20)), assistant('No.'), ...parallel.messages],
    }
    for (let seed = 1; seed <= 10; seed++) {
      const { refused, differences } = await crash({ seed }, huge)
      expect([refused > 0, differences]).toEqual([true, []])
    }
  })
})

describe('a fault of the store', () => {
  /** A store whose reads show every row as that function leaves it. */
  const changed = (change: (row: LogRow) => readonly LogRow[]): CrashSettings['stores'] => {
    const scoped = (scope: ScopeStore): ScopeStore => ({
      commit: (ops, decide) => scope.commit(ops, decide),
      entries: async (query) => {
        const page = await scope.entries(query)
        return { ...page, rows: page.rows.flatMap(change) }
      },
      changesSince: async (seq) => {
        const changes = await scope.changesSince(seq)
        return { ...changes, rows: changes.rows.flatMap(change) }
      },
      head: () => scope.head(),
      register: (key) => scope.register(key),
      registers: (prefix, after) => scope.registers(prefix, after),
      indexed: (group, query) => scope.indexed(group, query),
      sums: (groups) => scope.sums(groups),
      attach: (attachment, at) => scope.attach(attachment, at),
      attachment: (id) => scope.attachment(id),
      attached: (ids) => scope.attached(ids),
      derive: (row, seq) => scope.derive(row, seq),
      derived: (prefix, after) => scope.derived(prefix, after),
      close: () => scope.close(),
    })
    return (agent) => {
      const store = mapStore()
      return agent === 'whole' ? store : { ...store, open: (scope) => scoped(store.open(scope)) }
    }
  }

  test('a dropped result is found', async () => {
    let results = 0
    const dropped = new Set<string>()
    const { differences } = await crash({
      stores: changed((row) => {
        if (row.body?.includes('tool-result') && ++results === 3) dropped.add(row.id)
        return dropped.has(row.id) ? [] : [row]
      }),
    })
    expect(differences).toContainEqual(expect.stringMatching(/of the log: .*\(tool\)/))
  })

  test('a changed word is found in the request, in the log and at the end', async () => {
    const { differences } = await crash({
      budget: 16_000,
      stores: changed((row) => [{ ...row, body: row.body?.replace('fifth', 'FIFTH') ?? null }]),
    })
    expect(differences).toEqual([
      expect.stringMatching(/^the request for m12: .+ differ at byte \d+, in window/),
      expect.stringMatching(/^message 9 of the log: result\/\w+ \(tool\) with another content$/),
      expect.stringMatching(/^the last context: .+ differ at byte \d+, in window/),
    ])
  })

  test('a commit that was acknowledged and is gone after a kill is found', async () => {
    const forgetful: CrashSettings['stores'] = (agent) => {
      const commits: Parameters<ScopeStore['commit']>[] = []
      let store = mapStore()
      let opened = 0
      const lose = (): void => {
        store = mapStore()
        for (const [ops, decide] of commits.slice(0, -1)) store.open(SCOPE).commit(ops, decide)
      }
      const open: Store['open'] = (scope) => {
        if (scope.sessionId === undefined) return store.open(scope)
        if (agent === 'killed' && ++opened === 6) lose()
        const opening = store.open(scope)
        const commit: ScopeStore['commit'] = (ops, decide) => {
          commits.push([ops, decide])
          return opening.commit(ops, decide)
        }
        return new Proxy(opening, {
          get: (target, key) =>
            key === 'commit' ? commit : (Reflect.get(target, key) as () => unknown).bind?.(target),
        })
      }
      return { ...store, open }
    }
    const { differences } = await crash({ stores: forgetful })
    expect(differences[0]).toBeTypeOf('string')
  })
})

describe('a life', () => {
  const message = { id: 'm1', role: 'user', content: 'Hi', createdAt: 0, trust: 'user' } as const
  const op = sealOp({ kind: 'append', opId: 'o1', round: 'm1', messages: [message] })

  test.each<[Boundary, number]>([
    ['commit', 0],
    ['committed', 1],
  ])('that ends at %s never goes on, and has written %i rows', async (at, rows) => {
    const store = mapStore()
    const life = new Life(new Fate([{ at, written: 0, passed: 0 }]))
    let wentOn = false
    const scope = life.store(store).open(SCOPE)
    void scope.commit([op], decide).then(() => {
      wentOn = true
    })
    await life.killed
    void scope.head().then(() => {
      wentOn = true
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([wentOn, life.isDead]).toEqual([false, true])
    expect((await store.open(SCOPE).entries()).rows).toHaveLength(rows)
  })

  test('is struck where so much was written, and so much passed since', () => {
    const fate = new Fate([
      { at: 'model', written: 1, passed: 1 },
      { at: 'read', written: 0, passed: 1 },
    ])
    const strikes = (...at: readonly Boundary[]) => at.map((one) => fate.strikes(one))
    expect(strikes('read', 'model', 'model', 'read', 'read')).toEqual([false, false, false, true, false])
    fate.wrote(['m1'])
    expect(strikes('model', 'read', 'model', 'model')).toEqual([false, false, true, false])
    expect(fate.kills).toBe(2)
  })
})

describe('a recording as runs of an agent', () => {
  const idsOf = (messages: readonly MessageInput[]) => messages.map(({ id }) => id)

  test('begins a run with what is said, and says what no agent would have replied there', () => {
    const { pieces, tools } = playOf(readConversation(JSON.stringify(parallel), 1))
    expect(pieces.map(({ input, replies }) => [idsOf(input), idsOf(replies)])).toEqual([
      [
        ['m1', 'm2'],
        ['m3', 'm8', 'm12'],
      ],
      [['m13', 'm14'], ['m15']],
      [['m17'], ['m18']],
      [['m19', 'm20'], ['m21']],
    ])
    expect(tools.map(({ name }) => name)).toEqual(['look_0', 'look_1', 'look_2', 'look_3'])
  })

  test('tells calls of one id in one reply apart', () => {
    const { pieces } = playOf(readConversation(JSON.stringify(parallel), 1))
    const ids = pieces[0]?.replies[1]?.content
    expect(ids).toMatchObject([{ id: 'a' }, { id: 'a/1' }, { id: 'b' }])
  })

  test('finds the result of each call, by order where ids are the same', () => {
    const { results } = playOf(readConversation(JSON.stringify(parallel), 1))
    const firstWords = (id: string) =>
      results.get(id)?.map((found) => (found ? String(found.output).split(' ')[0] : undefined))
    expect(firstWords('m3')).toEqual(['first', 'second', 'third', 'fourth'])
    expect(firstWords('m8')).toEqual(['fifth', 'sixth', 'seventh'])
    expect(firstWords('m15')).toEqual(['eighth', undefined])
    expect(firstWords('m21')).toEqual(['ninth'])
  })
})
