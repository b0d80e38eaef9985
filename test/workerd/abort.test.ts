import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'
import { PART_UNITS } from '../../src/stores/parts.ts'
import type { SqlStorageLike } from '../../src/stores/sql-schema.ts'
import { append, erase, mark, put, readAll, remove, SCOPE } from '../contract/samples.ts'

/** The test runner logs every abort but those with this reason. */
const REASON = 'Instance dispose'
const LONG = 'x'.repeat(2 * PART_UNITS + 1)

/** What is there before: entries and registers that derive from one another, with long texts. */
const SETUP: readonly SealedOp[] = [
  append('setup-1', ['m1', 'm2'], { bodies: ['short', LONG] }),
  put('setup-2', 'key', null, { body: LONG, sources: ['entry:m2'] }),
  mark('setup-3', 'summary', 's1', { sources: ['entry:m2'] }),
]

const COMMITS: Readonly<Record<string, { setup: readonly SealedOp[]; ops: readonly SealedOp[] }>> = {
  'the first append of an object': { setup: [], ops: [append('op-1', ['a', 'b'])] },
  'an append': { setup: SETUP, ops: [append('op-1', ['a', 'b'])] },
  'a batch with long texts in parts': {
    setup: SETUP,
    ops: [
      append('op-1', ['a', 'b'], { bodies: [LONG, LONG] }),
      put('op-2', 'key', 'setup-2', { body: `${LONG}.` }),
      mark('op-3', 'epoch', 'e1'),
      put('op-4', 'key', 'setup-2'),
    ],
  },
  'a delete': { setup: SETUP, ops: [remove('op-1', 'entry:m2')] },
  'an erase': { setup: SETUP, ops: [erase('op-1')] },
}

/**
 * Rows of all tables, and all answers of the store. As one text, or what differs would fill the
 * screen.
 */
async function dump({ storage }: DurableObjectState): Promise<string> {
  const read = await readAll(durableObjectStore(storage).open(SCOPE))
  const tables = storage.sql.exec(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%'`,
  )
  const rows = tables.toArray().map(({ name }) => [name, storage.sql.exec(`SELECT * FROM ${name}`).toArray()])
  return JSON.stringify({ read, rows })
}

/** An object, called through a new stub each time, since those of an aborted one are dead. */
class Restarting {
  readonly #id = env.SESSIONS.newUniqueId()

  run<Result>(call: (state: DurableObjectState) => Promise<Result>): Promise<Result> {
    return runInDurableObject(env.SESSIONS.get(this.#id), (_, state) => call(state))
  }

  commit(ops: readonly SealedOp[]): Promise<readonly OpResult[]> {
    return this.run(({ storage }) => durableObjectStore(storage).open(SCOPE).commit(ops, decide))
  }

  dump(): Promise<string> {
    return this.run(dump)
  }
}

async function newObject(setup: readonly SealedOp[]): Promise<Restarting> {
  const object = new Restarting()
  if (setup.length > 0) await object.commit(setup)
  return object
}

/** The storage of an object, which says so before each of its statements. */
function watched({ storage }: DurableObjectState, before: () => void): SqlStorageLike {
  return {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec: (query, ...bindings) => {
        before()
        return storage.sql.exec(query, ...bindings)
      },
    },
  }
}

describe('an object that is aborted', () => {
  for (const [name, { setup, ops }] of Object.entries(COMMITS))
    it(`at any statement of ${name} has all of it or nothing, and takes it once when it is sent again (T7)`, async () => {
      const [untouched, calm] = [await newObject(setup), await newObject(setup)]
      let statements = 0
      const results = await calm.run((state) =>
        durableObjectStore(watched(state, () => statements++))
          .open(SCOPE)
          .commit(ops, decide),
      )
      const [before, after] = [await untouched.dump(), await calm.dump()]
      expect(statements).toBeGreaterThan(5)
      expect(after === before).toBe(false)
      const nameOf = (found: string) => (found === before ? 'before' : found === after ? 'after' : 'between')

      // The last two rounds abort after the commit: at once, and when it is on disk.
      for (let at = 1; at <= statements + 2; at++) {
        const object = await newObject(setup)
        const aborted = object.run(async (state) => {
          let statement = 0
          const storage = watched(state, () => {
            if (++statement === at) state.abort(REASON)
          })
          await durableObjectStore(storage).open(SCOPE).commit(ops, decide)
          if (at > statements + 1) await state.storage.sync()
          state.abort(REASON)
        })
        await expect(aborted).rejects.toThrow(REASON)
        const found = nameOf(await object.dump())
        expect(found).toBeOneOf(at > statements + 1 ? ['after'] : ['before', 'after'])

        const again = await object.commit(ops)
        expect(again.map(({ repeated: _, ...result }) => result)).toEqual(results)
        expect(nameOf(await object.dump())).toBe('after')
      }
    })
})
