import { describe, expect, test } from 'vitest'
import type { Command, History, TabCommand } from '../../oracle/commands.ts'
import { Coverage } from '../../oracle/coverage.ts'
import { historyOf } from '../../oracle/generate.ts'
import { play, type Step } from '../../oracle/play.ts'
import { shrunk } from '../../oracle/shrink.ts'
import { sidesOf } from '../../oracle/sides.ts'

const { frozen } = sidesOf((build) => ({ open: () => build.mapStore() }))

async function stepsOf(commands: readonly Command[]): Promise<readonly Step[]> {
  const open: TabCommand = {
    kind: 'open',
    tab: 'a',
    memory: 0,
    configuration: 0,
    store: 0,
    user: 'ada',
    session: 'trip',
  }
  const configurations = [
    { budget: 300, counter: { type: 'chars', chars: 4 }, compaction: { model: true } },
  ] as const
  const history: History = {
    seed: 0,
    configurations,
    commands: [open, { ...open, tab: 'b', memory: 1 }, ...commands],
  }
  return (await play(history, frozen)).steps.slice(2)
}

const say = (id: string, tab = 'a'): TabCommand => ({
  kind: 'append',
  tab,
  messages: [{ id, role: 'user', content: 'The ferry leaves from the west harbour. '.repeat(5) }],
})

describe('a generated history', () => {
  test('is the same for a seed, and has 30 to 80 commands', () => {
    for (const seed of [1, 2, 77]) {
      const { commands } = historyOf(seed)
      expect(historyOf(seed)).toEqual(historyOf(seed))
      expect(commands.length).toBeGreaterThan(29)
      expect(commands.length).toBeLessThan(81)
    }
    expect(historyOf(1)).not.toEqual(historyOf(2))
  })

  test('is played to the same end each time', async () => {
    expect(await play(historyOf(3), frozen)).toEqual(await play(historyOf(3), frozen))
  })
})

describe('the driver', () => {
  test('lets calls of the store fail during one command, before or after they wrote', async () => {
    const [, before, again, , after, same] = await stepsOf([
      { kind: 'fail', calls: 'commits', op: 'append' },
      say('m1'),
      say('m1'),
      { kind: 'fail', calls: 'commits', op: 'append', how: 'after' },
      say('m2'),
      say('m2'),
    ])
    expect(before?.outcome).toEqual({ error: { code: 'ERR_STORAGE' } })
    expect(again?.outcome).toMatchObject({ ok: { repeated: false } })
    expect(after?.outcome).toEqual({ error: { code: 'ERR_STORAGE' } })
    expect(same?.outcome).toMatchObject({ ok: { repeated: true } })
  })

  test('lets those calls alone that the failure is not for', async () => {
    const [, other, , own] = await stepsOf([
      { kind: 'fail', calls: 'commits', op: 'summary' },
      say('m1'),
      { kind: 'fail', calls: 'commits', op: 'append', scope: 'user' },
      say('m2'),
    ])
    expect(other?.outcome).toMatchObject({ ok: { repeated: false } })
    expect(own?.outcome).toMatchObject({ ok: { repeated: false } })
  })

  test('lets others come first, and says so where none did', async () => {
    const steps = await stepsOf([
      { kind: 'race', at: 'append', commands: [say('m2', 'b')] },
      say('m1'),
      { kind: 'race', at: 'delete', commands: [say('m3', 'b')] },
      say('m4'),
      { kind: 'history', tab: 'a' },
    ])
    expect(steps[1]?.raced).toMatchObject([{ outcome: { ok: { repeated: false } } }])
    expect(steps[3]?.raced).toBeUndefined()
    expect(steps[4]?.outcome).toMatchObject({ ok: [{ id: 'm2' }, { id: 'm1' }, { id: 'm4' }] })
  })

  test('hides what is in rows, until it is shown again', async () => {
    const steps = await stepsOf([
      say('m1'),
      { kind: 'veil', ids: ['m1'] },
      { kind: 'history', tab: 'a' },
      { kind: 'veil', ids: [] },
      { kind: 'history', tab: 'a' },
    ])
    expect(steps[2]?.outcome).toEqual({ ok: [] })
    expect(steps[4]?.outcome).toMatchObject({ ok: [{ id: 'm1' }] })
  })

  test('answers for the model, and lets time pass where it hangs', async () => {
    const rounds = Array.from({ length: 8 }, (_, at): TabCommand[] => [
      say(`m${at}`),
      { kind: 'context', tab: 'a' },
    ])
    const steps = await stepsOf([{ kind: 'model', answers: ['hangs', 'empty', 'good'] }, ...rounds.flat()])
    const asked = steps.flatMap(({ events }) =>
      events.flatMap(({ type, answer }) => (type === 'asked' ? answer : [])),
    )
    expect(asked.slice(0, 3)).toEqual(['hangs', 'empty', 'good'])
    expect(steps.some(({ events }) => events.some(({ type }) => type === 'hangs'))).toBe(false)
  })

  test('names what is remembered for later commands, and keeps what is exported', async () => {
    const steps = await stepsOf([
      { kind: 'remember', tab: 'a', fact: { kind: 'finding', text: 'The 9:40 is full.' }, as: 'f' },
      { kind: 'pin', tab: 'a', id: { ref: 'f' } },
      { kind: 'export', tab: 'a', of: 'session', as: 'file' },
      { kind: 'import', tab: 'a', from: 'file', user: 'ada', session: 'copy' },
      { kind: 'import', tab: 'a', from: 'file', user: 'ada', session: 'other', damage: 'cut' },
    ])
    expect(steps[1]?.outcome).toMatchObject({ ok: { pinned: true } })
    expect(steps[3]?.outcome).toMatchObject({ ok: { parts: { facts: { written: 1 } } } })
    expect(steps[4]?.outcome).toMatchObject({ error: { code: 'ERR_INVALID_ARGUMENT' } })
  })
})

test('what histories reached is counted, and what they did not is reported', async () => {
  const coverage = new Coverage()
  coverage.add({
    name: 'build',
    configurations: [],
    steps: await stepsOf([say('m1'), { kind: 'context', tab: 'a' }]),
  })
  const missing = coverage.missing(['append', 'context', 'erase'])
  expect(missing).toEqual(expect.arrayContaining(['cause window', 'omitted orphan', 'done erase']))
  expect(missing).not.toContain('cause start')
  expect(missing).not.toContain('done append')
  expect(coverage.told()).toMatch('done: append 1, context 1')
})

test('a history is made as short as what is looked for allows', async () => {
  const history = historyOf(5)
  const has = (one: History): boolean => one.commands.filter(({ kind }) => kind === 'append').length >= 2
  const least = await shrunk(history, async (one) => has(one))
  expect(least.commands.map(({ kind }) => kind)).toEqual(['append', 'append'])
  expect(JSON.stringify(least).length).toBeLessThan(800)
})
