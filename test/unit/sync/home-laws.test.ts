import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { nothingWritten, replay } from '../../../src/kernel/log/decide.ts'
import type { Name, SealedOp } from '../../../src/ports/op.ts'
import type { LogRow, RegisterRow, ScopeStore } from '../../../src/ports/store.ts'
import type { PullRequest, SyncOp } from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { answerPush } from '../../../src/sync/home.ts'
import { knownOp } from '../../../src/sync/known-op.ts'
import { decodePullAnswers, encodePush } from '../../../src/sync/wire.ts'
import { decodePush, encodePullAnswers } from '../../../src/sync/wire-requests.ts'
import { append, erase, mark, put, readLog, remove, SCOPE } from '../../contract/samples.ts'
import { runs } from '../../everywhere/runs.ts'

/** Few names, so that ops meet. */
const id = fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5')
const key = fc.constantFrom('a', 'b')
const name = fc.oneof(
  id.map((id): Name => `entry:${id}`),
  key.map((key): Name => `register:${key}`),
)
const sources = fc.array(name, { maxLength: 2 })
type Make = (opId: string, version: (key: string) => string | null) => SealedOp
const op: fc.Arbitrary<Make> = fc.oneof(
  fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map(
    (ids): Make =>
      (opId) =>
        append(opId, ids),
  ),
  fc.tuple(id, id).map(
    ([id, round]): Make =>
      (opId) =>
        append(opId, [id], { round }),
  ),
  id.map(
    (id): Make =>
      () =>
        append(`entry:${id}`, [id]),
  ),
  fc.tuple(fc.constantFrom('epoch', 'summary', 'rewind', 'lease'), id, sources, fc.boolean()).map(
    ([kind, id, sources, hasLane]): Make =>
      (opId) =>
        mark(opId, kind, `mark-${id}`, { sources, ...(hasLane && { lane: 'other' }) }),
  ),
  fc.tuple(key, sources, fc.boolean(), fc.boolean()).map(
    ([key, sources, isListed, isStale]): Make =>
      (opId, version) =>
        put(opId, key, isStale ? null : version(key), {
          sources,
          ...(isListed && { index: [{ group: 'g', order: opId, weight: 1 }] }),
        }),
  ),
  name.map(
    (name): Make =>
      (opId) =>
        remove(opId, name),
  ),
)
const step = fc.record({
  makes: fc.array(op, { minLength: 1, maxLength: 4 }),
  secret: fc.option(fc.constantFrom('"one"', '"two"')),
  isErase: fc.nat(15).map((at) => at === 0),
  limit: fc.integer({ min: 1, max: 5 }),
})

/** What the home tells of an op, and what follows from that. */
function told({ tok: _, base, derived: __, ...row }: LogRow) {
  return { ...row, ...(row.kind !== 'put' && base !== undefined && { base }) }
}

/** Which names are deleted for ever. */
async function deletedIn(scope: ScopeStore): Promise<readonly Name[]> {
  const ids = ['m1', 'm2', 'm3', 'm4', 'm5']
  const names = ids.flatMap((id): Name[] => [`entry:${id}`, `entry:mark-${id}`])
  let deleted: readonly Name[] = []
  const probes = ['a', 'b'].map((key) => put(`probe-${key}`, key, null, { sources: names }))
  await scope.commit(probes, (_, rows) => {
    deleted = [...rows.deleted].sort()
    return nothingWritten([])
  })
  return deleted
}

async function contents(scope: ScopeStore, since: number) {
  const rows = await readLog(scope, since)
  const registers = await scope.registers('')
  return {
    rows: rows.map((row) => told({ ...row, seq: row.seq - since })),
    registers: registers.map((row): RegisterRow => ({ ...row, seq: row.seq - since })),
    deleted: await deletedIn(scope),
    indexed: (await scope.indexed('g')).map(({ key }) => key),
    sums: await scope.sums(['g']),
    marks: [...(await scope.head()).marks.values()].map((row) => ({ ...row, seq: row.seq - since })),
  }
}

describe('a home', () => {
  it('tells all that others need to hold the same', async () => {
    let toks = 0
    const newTok = () => `tok-${++toks}`
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }), async (steps) => {
        const home = mapStore().open(SCOPE)
        let [replica, generation] = [mapStore().open(SCOPE), '']
        let place: PullRequest = { cursor: 0, anchor: '' }
        let ops = 0
        for (const { makes, secret, isErase, limit } of steps) {
          const versions = new Map((await home.registers('')).map((row) => [row.key, row.version]))
          const made = makes.map((make) => make(`op-${++ops}`, (key) => versions.get(key) ?? null))
          const pushed = [...made, ...(isErase && generation !== '' ? [erase(`op-${++ops}`)] : [])]
          const request = {
            generation,
            ops: pushed.map(
              ({ envelope, bodies }, at): SyncOp => ({
                envelope,
                bodies,
                ...(at === 0 && secret !== null && { beside: [{ key: SECRET, body: secret }] }),
              }),
            ),
          }
          const [sent] = decodePush(encodePush([request]))
          const answer = await answerPush(home, sent as typeof request, { newTok })
          const again = await answerPush(home, { ...request, generation }, { newTok })
          expect({ ...again, repeated: undefined }).toEqual({ ...answer, repeated: undefined })
          generation = answer.generation
          for (;;) {
            const asked = await answerPull(home, { ...place, limit }, { newTok })
            const [page] = decodePullAnswers(encodePullAnswers([asked]))
            if (!page || 'error' in page) throw new Error('no answer')
            if ('reset' in page) {
              expect([page.reset, 'erased' in answer]).toEqual(['erased', true])
              replica = mapStore().open(SCOPE)
              place = { cursor: 0, anchor: '' }
              continue
            }
            const { generation, cursor, anchor } = page
            place = { generation, cursor, anchor }
            if (page.ops.length === 0) break
            const pulled = page.ops as readonly SyncOp[]
            const results = await replica.commit(pulled.map(knownOp), (given, rows) => {
              const decision = replay(given, rows, true)
              const beside = pulled.flatMap(({ envelope: { opId: version }, beside = [] }) =>
                beside.map((one) => {
                  const seq = decision.log.find((row) => row.opId === version)?.seq ?? 0
                  return { ...one, version, seq }
                }),
              )
              return { ...decision, registers: [...decision.registers, ...beside] }
            })
            expect(results.every(({ status }) => status === 'accepted')).toBe(true)
          }
          const { seq } = await home.head()
          const since = seq - (await replica.head()).seq
          expect(await contents(replica, 0)).toEqual(await contents(home, since))
        }
      }),
      runs(400),
    )
  })
})
