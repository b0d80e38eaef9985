// Four additions under a line that they do not fit. This needs 'plimsoll' and nothing else, so it
// runs wherever that does.
import {
  type AgentResult,
  type AgentTool,
  type Block,
  type CompactEvent,
  type Context,
  charsPerToken,
  compaction,
  countMessage,
  createMemory,
  mapStore,
  runAgent,
  type Store,
  scriptedModel,
} from 'plimsoll'

const system = 'You are a careful calculator. Use the `add` tool for every step.'
const input =
  'Add the following pairs in sequence and report all results: (1,2), (10,20), (100,200), (1000,2000).'
const script = [
  { calls: [{ id: 'c1', name: 'add', input: { a: 1, b: 2 } }] },
  { calls: [{ id: 'c2', name: 'add', input: { a: 10, b: 20 } }] },
  { calls: [{ id: 'c3', name: 'add', input: { a: 100, b: 200 } }] },
  { calls: [{ id: 'c4', name: 'add', input: { a: 1000, b: 2000 } }] },
  'Running total so far: 3, 30, 300, 3000. Final sum = 3333.',
]
const summaries = [
  'User asked for four running sums via the `add` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.',
]
const number = { type: 'number' }
const add: AgentTool<{ a: number; b: number }> = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
  execute: ({ a, b }) => String(a + b),
}
const counter = charsPerToken(4)

export interface Settings {
  readonly contextWindow: number
  readonly store?: Store
  readonly clock?: () => number
  readonly newId?: () => string
  readonly newSecret?: () => string
}

export interface Run {
  readonly result: AgentResult
  /** What the model was given, the requests for summaries included. */
  readonly requests: readonly Context[]
  /** Of these, the calls of the agent's steps. */
  readonly calls: readonly Context[]
  readonly compactions: readonly CompactEvent[]
}

export async function calculate({ store = mapStore(), contextWindow, ...host }: Settings): Promise<Run> {
  const model = scriptedModel(script, { summaries })
  const budget = { contextWindow, maxOutputTokens: 0, margin: 0 }
  const window = { keep: { messages: 3 } }
  const use = [compaction({ model })] as const
  const memory = createMemory({ store, system, counter, budget, window, use, ...host })
  const session = memory.session({ userId: 'ada', sessionId: 'calculator' })
  const compactions: CompactEvent[] = []
  session.compaction.subscribe((event) => compactions.push(event))
  const result = await runAgent({ input, model, tools: [add], session })
  const { requests } = model
  return { result, requests, calls: requests.filter(({ tools }) => tools), compactions }
}

/** What a cut to the last three messages would send behind the same summary. */
export function naiveCut(context: Context): Context {
  const isShown = ({ section }: Block, place: number, all: readonly Block[]) =>
    section !== 'window' || place >= all.length - 3
  return { ...context, blocks: context.blocks.filter(isShown) }
}

/**
 * The classic count of the messages: without the tool's schema, and without the fence around the
 * summary.
 */
export function classicCount({ blocks }: Context): number {
  const count = (block: Block) => (block.section === 'memory' ? tokensOf(summaryIn(block)) : block.tokens)
  return blocks.reduce((sum, block) => sum + count(block), 0)
}

/** The memory section without its fence. */
export function summaryIn({ parts: [part] }: Block): string {
  return part?.type === 'text' ? part.text.split('\n').slice(1, -1).join('\n') : ''
}

export const tokensOf = (content: string) => countMessage(counter, { content })
