/**
 * Recall through sessions over stores: whether they find the same, what it adds to an append, and
 * what a reopen costs.
 */
import type { MessageInput } from '../../src/index.ts'
import { mapStore } from '../../src/index.ts'
import { mean, median, round } from '../stats.ts'
import { documentOf, type Locomo } from './locomo.ts'
import { messagesFrom, plainQueries } from './messages.ts'
import { openChromium, openWorkerd, type Place } from './places.ts'
import type { Rankings } from './score.ts'
import { type FirstReads, StoreSubject } from './store-subject.ts'

export interface StoresPlan {
  /** Questions that are asked over stores on disk. */
  readonly questions: number
  /** Pairs of batches. */
  readonly pairs: number
  /** Messages of the session that is opened again, and how often. */
  readonly messages: number
  readonly reopens: number
}

/** Whether sessions over a store rank as the engine does by itself. */
export interface SameRanking {
  readonly place: string
  readonly questions: number
  readonly same: number
}

/** What recall adds to appends. */
export interface AppendCost {
  readonly place: string
  readonly what: string
  /** Appends that are timed together, with recall and without. */
  readonly batch: number
  /** Whether a goal is set for it. */
  readonly counts: boolean
  readonly pairs: number
  /** Median time of one append, in milliseconds. */
  readonly withoutMs: number
  readonly withMs: number
  /**
   * Median over the pairs of one batch's time by the other's, and the same of the sums, which hold
   * the blocks too.
   */
  readonly ratio: number
  readonly ratioOfSums: number
}

/** The first recall of a session that nothing was read of. */
export interface Reopen {
  readonly place: string
  readonly messages: number
  readonly samples: number
  readonly p50Ms: number
  /** Of the log, of the index, and KiB of the latter. */
  readonly rows: number
  readonly blocks: number
  readonly blockKiB: number
  /** Words that were stemmed. */
  readonly stemmed: number
}

export interface StoresReport {
  readonly same: readonly SameRanking[]
  readonly appends: readonly AppendCost[]
  readonly reopens: readonly Reopen[]
}

/** Messages that one append of a filling holds. */
const FILL_BATCH = 100
/** Appends that one request of a filling holds. */
const FILL_LISTS = 10
const WARM_UP = 10
/** Results that are compared; what is found is read one by one. */
const COMPARED = 20
const DEPTH = 200
const LONG_OUTPUT = 4_096
const MAP = 'map in Node'

/** @param rankings those of the engine by itself, in each conversation */
export async function measureStores(
  locomo: Locomo,
  rankings: Rankings,
  plan: StoresPlan,
  progress: (line: string) => void,
): Promise<{ stores: StoresReport; overMap: Rankings }> {
  const same: SameRanking[] = []
  const appends: AppendCost[] = []
  const reopens: Reopen[] = []
  progress(`stores: ${MAP}`)
  const map = new StoreSubject(mapStore())
  const inMemory = { append: map.append.bind(map), rank: map.rank.bind(map) }
  const overMap = await rankAll(inMemory, locomo, locomo.questions.length, DEPTH)
  same.push(compared(MAP, overMap, rankings, DEPTH))
  for (const open of [openChromium, openWorkerd]) {
    const place = await open()
    try {
      progress(`stores: rankings, ${place.name}`)
      const found = await rankAll(place, locomo, plan.questions, COMPARED)
      same.push(compared(place.name, found, rankings, COMPARED))
      progress(`stores: appends, ${place.name}`)
      appends.push(...(await measureAppends(place, locomo, plan.pairs)))
      progress(`stores: reopens, ${place.name}`)
      reopens.push(await measureReopens(place, locomo, plan))
    } finally {
      await place.close()
    }
  }
  return { stores: { same, appends, reopens }, overMap }
}

/** Each conversation in a session, and questions of all of them. */
async function rankAll(
  place: Pick<Place, 'rank'> & { append(...args: Parameters<Place['append']>): Promise<unknown> },
  { turns, questions }: Locomo,
  count: number,
  first: number,
): Promise<Rankings> {
  const step = Math.max(1, Math.floor(questions.length / count))
  const asked = questions.filter((_, index) => index % step === 0)
  const rankings = new Map<string, readonly string[]>()
  for (const name of new Set(turns.map(({ conversation }) => conversation))) {
    const messages = turns
      .filter(({ conversation }) => conversation === name)
      .map(documentOf)
      .map(
        ({ text, role, ...message }): MessageInput => ({ ...message, role: role || 'user', content: text }),
      )
    await place.append(name, true, inLists(messages, FILL_BATCH))
    const own = asked.filter(({ conversation }) => conversation === name)
    const texts = own.map(({ question }) => question)
    for (const [index, ids] of (await place.rank(name, texts, first)).entries())
      rankings.set(own[index]?.id ?? '', ids)
  }
  return rankings
}

function compared(place: string, found: Rankings, expected: Rankings, first: number): SameRanking {
  const same = [...found].filter(
    ([question, ids]) => ids.join('\n') === expected.get(question)?.slice(0, first).join('\n'),
  )
  return { place, questions: found.size, same: same.length }
}

async function measureAppends(place: Place, locomo: Locomo, pairs: number): Promise<AppendCost[]> {
  const costs: AppendCost[] = []
  const laps = WARM_UP + pairs
  const most = Math.max(...place.batches)
  const all = Object.entries(appendsOf(locomo, laps * most))
  for (const [what, made, batch] of all.flatMap(([what, made]) =>
    place.batches.map((batch) => [what, made, batch] as const),
  )) {
    const times: { readonly off: number[]; readonly on: number[] } = { off: [], on: [] }
    const name = `${what}, ${batch}`
    for (let lap = 0; lap < laps; lap++) {
      const appends = made.slice(lap * batch, (lap + 1) * batch)
      const took = { off: 0, on: 0 }
      // Nobody always comes after the other.
      for (const which of lap % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const))
        took[which] = (await place.append(`${name}, ${which}`, which === 'on', appends)) / batch
      if (lap < WARM_UP) continue
      times.off.push(took.off)
      times.on.push(took.on)
    }
    costs.push({
      place: place.name,
      what,
      batch,
      counts: batch === place.batches[0],
      pairs,
      withoutMs: round(median(times.off)),
      withMs: round(median(times.on)),
      ratio: round(median(times.on.map((ms, pair) => ms / (times.off[pair] as number)))),
      ratioOfSums: round(mean(times.on) / mean(times.off)),
    })
  }
  return costs
}

/** So many appends of each kind. */
function appendsOf(locomo: Locomo, count: number): Record<string, MessageInput[][]> {
  const said = locomo.turns.flatMap(({ text }) => (text.length >= 100 && text.length <= 300 ? text : []))
  const textAt = (index: number): string => said[index % said.length] as string
  return {
    'a message of 100 to 300 characters': Array.from({ length: count }, (_, index) => [
      { role: index % 2 === 0 ? 'user' : 'assistant', content: textAt(index) },
    ]),
    'a call and its result of 4 KiB': Array.from({ length: count }, (_, index): MessageInput[] => {
      const id = `call-${index}`
      const input = { query: textAt(index).slice(0, 40) }
      return [
        ...(index === 0 ? [{ role: 'user' as const, content: 'Look all of it up.' }] : []),
        { role: 'assistant', content: [{ type: 'tool-call', id, name: 'search', input }] },
        { role: 'tool', content: [{ type: 'tool-result', callId: id, output: outputAt(index, textAt) }] },
      ]
    }),
  }
}

/** As JSON, with ids, paths and numbers of its own. */
function outputAt(index: number, textAt: (index: number) => string): string {
  const items: unknown[] = []
  for (let at = 40 * index; JSON.stringify(items).length < LONG_OUTPUT; at++) {
    const id = (Math.imul(at + 1, 0x9e3779b1) >>> 0).toString(16)
    items.push({ id, path: `src/${id.slice(0, 2)}/${id.slice(2, 5)}.ts`, line: at % 977, text: textAt(at) })
  }
  return JSON.stringify(items).slice(0, LONG_OUTPUT)
}

async function measureReopens(place: Place, locomo: Locomo, plan: StoresPlan): Promise<Reopen> {
  const documents = messagesFrom(locomo, plan.messages)
  const session = 'long'
  const messages = documents.map(
    ({ text, role, ...message }): MessageInput => ({ ...message, role: role || 'user', content: text }),
  )
  const lists = inLists(messages, FILL_BATCH)
  for (const some of inLists(lists, FILL_LISTS)) await place.append(session, true, some)
  await place.settle(session)
  const samples: (FirstReads & { readonly ms: number })[] = []
  for (const query of plainQueries(documents, plan.reopens)) samples.push(await place.first(session, query))
  const middle = (pick: (sample: FirstReads & { readonly ms: number }) => number): number =>
    round(median(samples.map(pick)))
  return {
    place: place.name,
    messages: plan.messages,
    samples: samples.length,
    p50Ms: middle(({ ms }) => ms),
    rows: middle(({ rows }) => rows),
    blocks: middle(({ blocks }) => blocks),
    blockKiB: middle(({ blockKiB }) => blockKiB),
    stemmed: middle(({ stemmed }) => stemmed),
  }
}

function inLists<Item>(items: readonly Item[], length: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  )
}
