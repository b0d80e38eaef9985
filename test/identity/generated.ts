import type { Json, MessageInput, Part } from '../../src/index.ts'
import type { Conversation } from '../../src/replay/transcript.ts'

const WORDS =
  'anchor berth café cargo 東京 déjà ferry 🚢 harbour keel naïve pilot Ørsted tide wharf Ελλάδα'.split(' ')
const TOOLS = ['find_trains', 'read_file', 'weather']

/**
 * A conversation with what makes contexts differ: parallel calls, outputs that are cut, JSON and
 * text in many scripts, call ids that come again, calls that are answered late or never, reasoning.
 * The same at every run.
 */
export function generated(rounds: number): Conversation {
  const random = generator(20_261_122)
  const text = (words: number): string =>
    Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(' ')
  const output = (): Json => {
    const size = random(8) === 0 ? 900 : random(60)
    if (random(2) === 0) return text(size)
    return {
      rows: Array.from({ length: size }, (_, id) => ({ id, '7': id / 7, name: text(2), '\u2028': null })),
    }
  }
  const messages: MessageInput[] = []
  let calls = 0
  /** Calls that nobody has answered. */
  const open: string[] = []
  const result = (callId: string): MessageInput => ({
    role: 'tool',
    content: [{ type: 'tool-result', callId, output: output(), ...(random(9) === 0 && { isError: true }) }],
  })
  const step = (): void => {
    // Ids come again, as they do in recordings.
    const ids = Array.from({ length: 1 + random(3) }, () => `call_${calls++ % 50}`)
    const content: Part[] = [
      ...(random(3) === 0 ? [{ type: 'reasoning', text: text(12), signature: `s${calls}` } as const] : []),
      { type: 'text', text: text(8) },
      ...ids.map((id) => {
        const name = TOOLS[random(TOOLS.length)] ?? ''
        return { type: 'tool-call', id, name, input: { query: text(4), page: random(5) } } as const
      }),
    ]
    messages.push({ role: 'assistant', content })
    for (const id of ids) {
      if (random(12) === 0) open.push(id)
      else messages.push(result(id))
    }
  }
  for (let round = 0; round < rounds; round++) {
    messages.push({ role: 'user', content: text(5 + random(40)) })
    const late = random(4) === 0 ? open.shift() : undefined
    if (late !== undefined) messages.push(result(late))
    for (let steps = random(4); steps > 0; steps--) step()
    messages.push({ role: 'assistant', content: text(10 + random(60)) })
  }
  return {
    id: 'generated',
    format: 'openai',
    messages,
    tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })),
  }
}

/** Whole numbers below a bound, from a linear congruential generator. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}
