import { textOf } from '../kernel/log/message.ts'
import { headOf } from '../kernel/text/text.ts'
import type { Block, Context } from '../ports/context.ts'
import type { Host } from '../ports/host.ts'
import type { Json, ToolCallPart, ToolSpec } from '../ports/message.ts'
import type { FinishReason, Model, ModelEvent, ModelRequest } from '../ports/model.ts'

/** Id of the {@link demoModel}. */
export const DEMO_MODEL_ID = 'demo'

/** Said in every reply that ends a round, so that nobody takes it for a language model's. */
export const DEMO_NOTICE = 'This is a scripted demo: no language model was called.'

/** Most UTF-16 units of what somebody said that are looked through for what is asked. */
const LONGEST_READ = 4_000
/** Most characters of what somebody said that are repeated. */
const LONGEST_QUOTE = 300

/**
 * A model that is none, for development without a key. Each reply says so in words, repeats what
 * was said, and tells how full the context is. Asked to remember something, it calls the memory
 * tool for that where it was given one. Asked what it remembers, it repeats what the context has of
 * that, or else calls the tool that looks it up.
 */
export function demoModel({ newId }: Pick<Host, 'newId'>): Model {
  return { id: DEMO_MODEL_ID, complete: (request) => complete(request, newId) }
}

async function* complete(
  { context, tools = context.tools ?? [], settings = {}, signal }: ModelRequest,
  newId: () => string,
): AsyncGenerator<ModelEvent> {
  if (signal?.aborted) throw signal.reason
  const wanted = settings.toolChoice === 'none' ? undefined : callFor(context, tools)
  const call: ToolCallPart | undefined = wanted && {
    type: 'tool-call',
    id: `call_${newId().replaceAll('-', '')}`,
    ...wanted,
  }
  const text = call ? '' : replyTo(context)
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (signal?.aborted) throw signal.reason
    yield { type: 'text', text: word }
  }
  if (call) yield { type: 'tool-call', call }
  const reason: FinishReason = call ? 'tool-calls' : 'stop'
  const content = call ? [call] : text
  yield { type: 'finish', message: { role: 'assistant', content }, reason }
}

interface Rule {
  readonly tool: string
  /** Its first group is what the tool is given. */
  readonly asks: RegExp
  readonly inputOf: (said: string) => Json
}

/** What somebody wants to know of. */
const ASKS = [
  /\b(?:what do you (?:remember|know) about|do you remember|recall)\s+(.{2,400}?)[?.!]*$/i,
  // In the other languages of the widget: German, French, Spanish, Arabic, Japanese.
  /^(?:was weißt du über|que sais-tu de|¿?qué sabes de|ماذا تعرف عن)\s+(.{2,400}?)[?؟.!]*$/i,
  /^(.{2,400}?)について何を覚えて/,
]

const text = (said: string): Json => ({ text: said })

/** The first that fits is taken. */
const RULES: readonly Rule[] = [
  ...ASKS.map((asks) => ({ tool: 'memory_recall', asks, inputOf: (query: string) => ({ query }) })),
  {
    tool: 'memory_preference',
    asks: /\b(?:remember|note|keep in mind)(?: that)?:?\s+(I (?:prefer|like|love|want|hate)\b.{1,580})/i,
    inputOf: text,
  },
  {
    tool: 'memory_constraint',
    asks: /\b(?:remember|note|keep in mind)(?: that)?:?\s+((?:never|always|do not|don't)\b.{1,580})/i,
    inputOf: text,
  },
  {
    tool: 'memory_finding',
    asks: /\b(?:remember|note|keep in mind|don't forget)(?: that)?:?\s+(.{2,600})/i,
    inputOf: text,
  },
  // In the other languages of the widget: Arabic, French, German, Japanese, Spanish.
  {
    tool: 'memory_preference',
    asks: /^(?:merke? dir|retiens|recuerda|تذكّر|覚えて)(?:,? (?:dass|que|أن))?\s*[:：]?\s*(.{2,580})/i,
    inputOf: text,
  },
]

const WRITES = /^memory_(?!recall)/

/** What is to be called, where the newest message is the user's and asks for it. */
function callFor(
  context: Context,
  tools: readonly ToolSpec[],
): { readonly name: string; readonly input: Json } | undefined {
  const newest = conversation(context).at(-1)
  if (newest?.role !== 'user') return undefined
  const said = headOf(textOf({ content: newest.parts }), LONGEST_READ)
  if (rememberedIn(context, said).length > 0) return undefined
  for (const { tool, asks, inputOf } of RULES) {
    const what = tools.some(({ name }) => name === tool) && asks.exec(said)?.[1]
    if (what) return { name: tool, input: inputOf(what.trim()) }
  }
  return undefined
}

function replyTo(context: Context): string {
  const blocks = conversation(context)
  const results = blocks.slice(blocks.findLastIndex(({ role }) => role !== 'tool') + 1)
  const outputs = results.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool-result'
        ? typeof part.output === 'string'
          ? part.output
          : JSON.stringify(part.output)
        : [],
    ),
  )
  const newest = blocks.findLast(({ role }) => role === 'user')
  const called = blocks
    .at(-1 - results.length)
    ?.parts.flatMap((part) => (part.type === 'tool-call' ? part.name : []))
  const said =
    outputs.length > 0
      ? called?.every((name) => WRITES.test(name))
        ? 'It is remembered, until you undo or forget it.'
        : `It was looked up: ${quoted(outputs.join(' | '))}`
      : newest
        ? answerTo(context, textOf({ content: newest.parts }))
        : 'You have said nothing yet.'
  const { used, cap } = context.receipt
  const messages = blocks.length === 1 ? '1 message' : `${blocks.length} messages`
  return `${DEMO_NOTICE} ${said} It was given ${messages}: ${used} of ${cap} tokens.`
}

function answerTo(context: Context, said: string): string {
  const remembered = rememberedIn(context, headOf(said, LONGEST_READ))
  return remembered.length > 0 ? `You told me: ${quoted(remembered.join(' '))}` : `You said: ${quoted(said)}`
}

/** A line of the memory section: its reference, kind and trust, then what is remembered. */
const FACT = /^- \[[^\]]*\] \S+ \[[^\]]*\] (.+)$/gm
/** Shorter words are in every sentence. */
const SHORTEST_WORD = 4

/** What the context holds of what is remembered and asked for. */
function rememberedIn({ blocks }: Context, said: string): readonly string[] {
  const asked = ASKS.flatMap((asks) => asks.exec(said)?.[1] ?? [])[0]
  if (asked === undefined) return []
  const words = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(asked.toLowerCase())]
    .filter(({ segment, isWordLike }) => isWordLike && isTelling(segment))
    .map(({ segment }) => segment)
  // What is remembered shows in the memory from the next epoch on, and before that as a call.
  const facts = blocks.flatMap(({ section, parts }) =>
    section === 'memory'
      ? [...textOf({ content: parts }).matchAll(FACT)].map(([, fact = '']) => fact)
      : parts.flatMap((part) => (part.type === 'tool-call' ? noted(part) : [])),
  )
  return [...new Set(facts)].filter((fact) => words.some((word) => fact.toLowerCase().includes(word)))
}

function noted({ name, input }: ToolCallPart): readonly string[] {
  if (!WRITES.test(name) || typeof input !== 'object' || input === null || !('text' in input)) return []
  return typeof input.text === 'string' ? [input.text] : []
}

/** Words of Chinese characters are short and tell much. */
function isTelling(word: string): boolean {
  return word.length >= (/\p{Script=Han}/u.test(word) ? 1 : SHORTEST_WORD)
}

/** What was said, without what the library adds to it. */
function conversation({ blocks }: Context): readonly Block[] {
  return blocks.filter(({ section, from }) => section === 'window' && from.length > 0)
}

function quoted(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim()
  return `“${line.length > LONGEST_QUOTE ? `${headOf(line, LONGEST_QUOTE)}…` : line}”`
}
