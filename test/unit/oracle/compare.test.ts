import { describe, expect, test } from 'vitest'
import type { Command } from '../../oracle/commands.ts'
import { compared, type Difference, differencesBetween, told } from '../../oracle/compare.ts'
import type { WantedDifference } from '../../oracle/differences.ts'
import type { Json, JsonObject } from '../../oracle/json.ts'
import type { Result, Step } from '../../oracle/play.ts'

const hash = (digit: string): string => digit.repeat(64)

const command: Command = { kind: 'context', tab: 'a' }

function built(steps: readonly Step[]): Result {
  return { name: 'build', configurations: [], steps }
}

function resultOf(value: Json, of: Command = command): Result {
  return built([{ command: of, outcome: { ok: value }, events: [] }])
}

function firstDifference(
  one: Result,
  other: Result,
  list: readonly WantedDifference[] = [],
): Difference | undefined {
  return compared(one, other, list).difference
}

interface Shown {
  readonly lane?: string
  readonly fence?: string
  readonly epochs?: readonly string[]
  readonly text?: string
}

/** Contexts of a build, one for each epoch. */
function contextsOf({
  lane = 'a'.repeat(16),
  fence = '1'.repeat(8),
  epochs = ['2'],
  text = '',
}: Shown): Result {
  return built(
    epochs.map((epoch) => ({
      command,
      outcome: {
        ok: {
          lane,
          epoch: `epoch/${hash(epoch)}`,
          blocks: [{ parts: [{ type: 'text', text: `<ctx-${fence} facts>${text}` }] }],
          receipt: { epoch: { id: `epoch/${hash(epoch)}`, cause: 'start', place: 1 } },
        },
      },
      events: [],
    })),
  )
}

describe('a comparison', () => {
  test('finds nothing where only made names differ, as many of them', () => {
    const one = { id: 'id-000001', sources: ['id-000002', 'id-000001'], hash: hash('a') }
    const other = { id: 'id-000007', sources: ['id-000009', 'id-000007'], hash: hash('b') }
    expect(firstDifference(resultOf(one), resultOf(other))).toBeUndefined()
  })

  test('finds that two names are one', () => {
    const one = { id: 'id-000001', sources: ['id-000002'] }
    const other = { id: 'id-000001', sources: ['id-000001'] }
    expect(firstDifference(resultOf(one), resultOf(other))).toMatchObject({
      path: ['outcome', 'ok', 'sources', 0],
    })
    const same = contextsOf({ epochs: ['2', '2'] })
    const two = contextsOf({ epochs: ['2', '3'] })
    expect(firstDifference(same, two)).toMatchObject({ projection: 'names', step: 1 })
  })

  test('takes fences as they are where the lanes are the same, else by their first appearance', () => {
    const one = contextsOf({})
    expect(firstDifference(one, contextsOf({ fence: '2'.repeat(8) }))).toMatchObject({
      projection: 'behaviour',
    })
    expect(firstDifference(one, contextsOf({ fence: '2'.repeat(8), lane: 'b'.repeat(16) }))).toBeUndefined()
    expect(firstDifference(one, contextsOf({ text: 'more', lane: 'b'.repeat(16) }))).toBeDefined()
  })

  test('compares codes of errors and their fields', () => {
    const failed = (error: JsonObject): Result => built([{ command, outcome: { error }, events: [] }])
    const one = failed({ code: 'ERR_NOT_FOUND', id: 'm1' })
    expect(firstDifference(one, failed({ code: 'ERR_NOT_FOUND', id: 'm2' }))).toBeDefined()
    expect(firstDifference(one, failed({ code: 'ERR_CONFLICT', id: 'm1' }))).toBeDefined()
  })

  test('compares rows without heads and hashes, and heads by their names', () => {
    const rows: Command = { kind: 'rows' }
    const scope = (registers: readonly JsonObject[]): Json => [[{ scope: {}, registers, log: [] }]]
    const head = { key: `head/${hash('a')}`, seq: 1, body: { system: 'Hello.' } }
    const other = { ...head, body: { system: 'Goodbye.' } }
    const found = firstDifference(resultOf(scope([head]), rows), resultOf(scope([other]), rows))
    expect(found).toMatchObject({ projection: 'names', old: 'Hello.', new: 'Goodbye.' })
    const fact = { key: 'fact/1', seq: 2, body: { text: 'x' } }
    const changed = { ...fact, body: { text: 'y' } }
    expect(
      firstDifference(resultOf(scope([head, fact]), rows), resultOf(scope([other, changed]), rows)),
    ).toMatchObject({ projection: 'rows' })
  })

  test('leaves what hashes say about rows to the names', () => {
    const marks = (ids: readonly string[]): Result => {
      const log = ids.map((id) => ({ kind: 'summary', id: `summary/${hash(id)}`, body: null }))
      return resultOf([[{ scope: {}, registers: [], log }]], { kind: 'rows' })
    }
    expect(firstDifference(marks(['1', '2']), marks(['1', '1']))).toMatchObject({ projection: 'names' })
    expect(firstDifference(marks(['1', '2']), marks(['3', '4']))).toBeUndefined()
  })

  test('passes over wanted differences, and tells the first other one with its place', () => {
    const [one, other] = [resultOf({ a: 1, b: [1, 2] }), resultOf({ a: 2, b: [1] })]
    expect([...differencesBetween(one, other)]).toHaveLength(4)
    const isWanted = { changelog: '', holds: ({ path }: { path: readonly unknown[] }) => path.at(-1) === 'a' }
    const difference = firstDifference(one, other, [isWanted])
    expect(difference && told(difference)).toBe(
      'step 0, context of tab a (behaviour): outcome.ok.b.length\n  was 2\n  is  1',
    )
  })

  test('ends where a wanted difference lasts, and says at which step', () => {
    const [one, other] = [
      ['a', 'b'],
      ['c', 'd'],
    ].map((texts) => built(texts.map((ok) => ({ command, outcome: { ok }, events: [] })))) as [Result, Result]
    const at = (step: number): WantedDifference => ({
      changelog: '',
      isLasting: true,
      holds: (difference) => difference.step === step,
    })
    expect(compared(one, other, [at(0)])).toEqual({ until: 0 })
    expect(compared(one, other, [at(1)])).toMatchObject({ until: 1, difference: { step: 0 } })
  })
})
