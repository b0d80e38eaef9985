import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { type Checkpoint, emptyCheckpoint, JsonPlusSerializer } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { copyOf, isAsTraced, traceOf } from '../../../src/bridges/langgraph/copies.ts'
import { PlimsollSaver } from '../../../src/bridges/langgraph/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { runs } from '../../everywhere/runs.ts'

type Place = Record<string | number, unknown>

const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => typeof value === 'object' && value !== null)
const message = fc.oneof(
  fc.string().map((content) => new HumanMessage({ id: 'a', content })),
  fc.tuple(json, json).map(
    ([args, artifact]) =>
      new AIMessage({
        content: [{ type: 'text', text: 'x' }],
        tool_calls: [{ id: 'c', name: 'look', args: { args } }],
        response_metadata: { artifact },
      }),
  ),
  json.map((artifact) => new ToolMessage({ tool_call_id: 'c', content: 'x', artifact })),
)
const value = fc.oneof(json, message) as fc.Arbitrary<object>

/** All objects inside of a value, itself among them. */
function placesIn(one: unknown): Place[] {
  if (typeof one !== 'object' || one === null) return []
  return [one as Place, ...Object.values(one).flatMap(placesIn)]
}

it('copies what it knows, and notices any change of it', () => {
  fc.assert(
    fc.property(
      value,
      fc.nat(),
      fc.nat(),
      fc.constantFrom('set', 'drop', 'add', 'rename'),
      (one, a, b, how) => {
        const copy = copyOf(one) as object
        expect(copy).toStrictEqual(one)
        const places = placesIn(one)
        expect(placesIn(copy).some((place) => places.includes(place))).toBe(false)
        const trace = traceOf(one)
        expect(isAsTraced(one, trace)).toBe(true)
        expect(isAsTraced(copy, trace)).toBe(true)
        const place = places[a % places.length] as Place
        const keys = Object.keys(place)
        const key = keys[b % Math.max(1, keys.length)]
        if (how === 'add') {
          if (Array.isArray(place)) place.push(0)
          else place.another = 0
        } else if (key === undefined) return
        else if (how === 'set') place[key] = { other: place[key] }
        else if (how === 'rename' && !Array.isArray(place)) {
          const fields = Object.entries(place)
          for (const [name] of fields) delete place[name]
          for (const [name, field] of fields) place[name === key ? `${name}2` : name] = field
        } else if (Array.isArray(place)) place.length--
        else delete place[key]
        expect(isAsTraced(one, trace)).toBe(false)
      },
    ),
    runs(1_000),
  )
})

it('notices other fields, a longer list, and that what has a message’s fields is none', () => {
  const value: Place = { said: new HumanMessage('One.'), list: [1] }
  const trace = traceOf(value)
  value.said = { ...(value.said as object) }
  expect(isAsTraced(value, trace)).toBe(false)
  expect(isAsTraced([1, 2], traceOf([1]))).toBe(false)
  for (const other of [{ a: 1 }, { a: 1, b: 2, c: 3 }, { b: 1, a: 2 }, { a: 1, c: 2 }])
    expect(isAsTraced(other, traceOf({ a: 1, b: 2 }))).toBe(false)
})

it('copies nothing of which more is to know than its fields', () => {
  class Own extends HumanMessage {
    readonly #secret = 1
    get secret() {
      return this.#secret
    }
  }
  const loop: Place = {}
  loop.self = loop
  const others = [new Map(), new Date(0), () => {}, Symbol('s'), new Own('a'), new Uint8Array(1), loop]
  for (const other of others) expect(copyOf({ a: [other] })).toBeUndefined()
  const shared = { a: 1 }
  const copy = copyOf([shared, shared]) as readonly object[]
  expect(copy[0]).toBe(copy[1])
})

const METADATA = { source: 'loop', step: 0, parents: {} } as const
const at = (id?: string) => ({
  configurable: { thread_id: 't', checkpoint_ns: '', ...(id !== undefined && { checkpoint_id: id }) },
})
const checkpointOf = (number: number, messages: readonly unknown[]): Checkpoint => ({
  ...emptyCheckpoint(),
  id: `1ef4f797-8335-6428-8001-${String(number).padStart(12, '0')}`,
  channel_values: { messages },
  channel_versions: { messages: number + 1 },
})

/** Counts the items that it writes and reads. */
class Counting extends JsonPlusSerializer {
  written = 0
  read = 0

  override async dumpsTyped(data: unknown): Promise<[string, Uint8Array]> {
    this.written++
    return super.dumpsTyped(data)
  }

  override async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    this.read++
    return super.loadsTyped(type, data)
  }
}

async function messagesIn(saver: PlimsollSaver): Promise<HumanMessage[]> {
  return (await saver.getTuple(at()))?.checkpoint.channel_values.messages as never
}

it('writes and reads no message again that is as it was', async () => {
  const serde = new Counting()
  const saver = new PlimsollSaver({ store: mapStore(), userId: 'ada', serde })
  const takes: (readonly [number, number])[] = []
  for (let turn = 0; turn < 100; turn++) {
    const before = [serde.written, serde.read] as const
    const messages = (await messagesIn(saver)) ?? []
    messages.push(new HumanMessage({ id: `${turn}`, content: `Question ${turn}?` }))
    const { id, ...checkpoint } = checkpointOf(turn, messages)
    const parent = turn === 0 ? undefined : checkpointOf(turn - 1, []).id
    await saver.put(at(parent), { id, ...checkpoint }, METADATA, checkpoint.channel_versions)
    takes.push([serde.written - before[0], serde.read - before[1]])
  }
  expect(takes.at(-1)).toEqual(takes[5])
  expect((await messagesIn(saver)).map(({ content }) => content)).toHaveLength(100)
})

it('writes a message that was changed in place, and shows no reader what another one changes', async () => {
  const saver = new PlimsollSaver({ store: mapStore(), userId: 'ada' })
  const said = new HumanMessage({ id: 'a', content: [{ type: 'text', text: 'One.' }] })
  await saver.put(at(), checkpointOf(0, [said]), METADATA, { messages: 1 })
  const part = said.content[0] as { text: string }
  part.text = 'Two.'
  await saver.put(at(checkpointOf(0, []).id), checkpointOf(1, [said]), METADATA, { messages: 2 })
  for (let reader = 0; reader < 3; reader++) {
    const [read] = await messagesIn(saver)
    expect(read?.text).toBe('Two.')
    ;(read as { content: unknown }).content = 'Changed.'
  }
  const [read] = await messagesIn(saver)
  ;(read?.content[0] as unknown as { text: string }).text = 'Three.'
  await saver.put(at(checkpointOf(1, []).id), checkpointOf(2, [read]), METADATA, { messages: 3 })
  expect((await messagesIn(saver))[0]?.text).toBe('Three.')
})

it('keeps no more read values in memory than there is room for', async () => {
  const serde = new Counting()
  const saver = new PlimsollSaver({ store: mapStore(), userId: 'ada', serde })
  const messages = Array.from({ length: 10 }, (_, number) => new HumanMessage(`${number}`.repeat(2 ** 20)))
  await saver.put(at(), checkpointOf(0, messages), METADATA, { messages: 1 })
  await messagesIn(saver)
  const before = serde.read
  expect(await messagesIn(saver)).toHaveLength(10)
  expect(serde.read - before).toBeGreaterThan(3)
})
