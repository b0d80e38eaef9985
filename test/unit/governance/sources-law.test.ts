/**
 * The law of sources: what quotes a message or a fact in the store names it as a source, directly
 * or by way of others, so that forgetting empties it. Features of one's own keep it as those of the
 * library do.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeRegister,
  checkpoint,
  compaction,
  createMemory,
  extraction,
  type Feature,
  facts,
  forget,
  mapStore,
  PLACES,
  profile,
  readRegister,
  recall,
  type Store,
} from '../../../src/index.ts'
import { runs } from '../support/runs.ts'

const USER = { userId: 'ada' }
const SCOPE = { ...USER, sessionId: 'trip' }
const KEY = 'digest'

interface DigestShape {
  readonly api: { take(id: string, text: string): Promise<void> }
}

/** Quotes messages in a register of the session, which shows in the memory section. */
function digest(says: boolean): Feature<'digest', DigestShape> {
  return {
    name: 'digest',
    registers: [
      {
        prefix: KEY,
        owners: ['session'],
        part: 'checkpoint',
        isUnlabelled: true,
        check: (_, __, value) => value as string,
      },
    ],
    open: ({ store, memory, run }) => ({
      api: {
        take: (id, text) =>
          run(async () => {
            const options = { operation: 'digest', key: `${KEY}/${id}`, change: () => `Said: ${text}` }
            await changeRegister(store, memory.host, {
              ...options,
              ...(says && { sources: [`entry:${id}`] }),
            })
          }),
      },
      show: {
        read: async () => {
          const found = []
          for (const { key } of await store.registers(KEY)) {
            const { value } = await readRegister<string>(store, key)
            if (value !== undefined) found.push({ key, value })
          }
          return found
        },
        holds: () => true,
        head: (all: readonly { readonly key: string; readonly value: string }[]) => {
          if (all.length === 0) return undefined
          const text = all.map(({ value }) => value).join('\n')
          const section = { in: 'memory', at: PLACES.facts + 70, name: KEY, text, trust: 'user' } as const
          return {
            sections: [section],
            record: all.length,
            sources: all.map(({ key }) => `register:${key}` as const),
          }
        },
      },
    }),
  }
}

/** The id of a message has its canary in it. */
const canary = (index: number): string => `canary${index}q`

async function played(use: readonly (string | number)[], says = true) {
  const store = mapStore()
  const memory = createMemory({
    store,
    budget: 1_500,
    use: [
      profile(),
      facts(),
      extraction(),
      checkpoint({ initial: {} }),
      compaction(),
      recall(),
      digest(says),
    ],
  })
  const session = memory.session(SCOPE)
  for (const [index, what] of use.entries()) {
    const id = `m${index}`
    const text = `Always use ${canary(index)}. ${'The train to the coast leaves in the morning. '.repeat(6)}`
    await session.append([
      { id, role: 'user', content: text },
      { id: `a${index}`, role: 'assistant', content: 'Noted.' },
    ])
    if (what === 'digest') await session.digest.take(id, text)
    if (what === 'fact') {
      const kind = index % 2 === 0 ? 'preference' : 'finding'
      await session.facts.remember({ kind, text: `Uses ${canary(index)} daily.`, sources: [id] })
    }
    await session.context()
  }
  return { store, session }
}

/** What quotes a message and does not name it: each breaks the law. */
async function breaches(store: Store, count: number): Promise<readonly string[]> {
  const rows: { readonly name: string; readonly body: string; readonly sources: readonly string[] }[] = []
  for (const scope of [SCOPE, USER]) {
    const opened = store.open(scope)
    for (const { key, body, sources = [] } of await opened.registers(''))
      rows.push({ name: key, body: body ?? '', sources: sources.map(bare) })
    for (const { id, kind, body, sources = [] } of (await opened.entries()).rows)
      if (kind !== 'message') rows.push({ name: id, body: body ?? '', sources: sources.map(bare) })
  }
  const origins = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const row of rows)
      if (row.name === name)
        for (const source of row.sources)
          if (!seen.has(source)) {
            seen.add(source)
            origins(source, seen)
          }
    return seen
  }
  return rows.flatMap(({ name, body }) =>
    Array.from({ length: count }, (_, index) => index).flatMap((index) =>
      body.includes(canary(index)) && !origins(name).has(`m${index}`) ? `${name} quotes m${index}` : [],
    ),
  )
}

/** A name without the space that it is in. */
function bare(name: string): string {
  return name.replace(/^(entry|register|attachment|user):/, '')
}

describe('what derives from messages', () => {
  it('names them, whatever is said and kept, and goes with each that is forgotten', async () => {
    const act = fc.constantFrom('digest', 'fact', 'say')
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 14 }), fc.nat(), async (acts, at) => {
        const { store, session } = await played(acts)
        expect(await breaches(store, acts.length)).toEqual([])
        const gone = at % acts.length
        await forget(session, `m${gone}`)
        await session.context()
        const left = []
        for (const scope of [SCOPE, USER]) {
          const opened = store.open(scope)
          left.push(await opened.registers(''), (await opened.entries()).rows, await opened.derived(''))
        }
        expect(JSON.stringify(left)).not.toContain(canary(gone))
      }),
      runs(40),
    )
  })

  it('breaks the law where a feature names nothing', async () => {
    const { store } = await played(['digest', 'say', 'say'], false)
    expect(await breaches(store, 3)).toContain('digest/m0 quotes m0')
  })
})
