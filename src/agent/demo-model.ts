import { NOTHING_FOUND, RECALL_TOOL, RECALLED } from '../features/recall/recall-text.ts'
import { textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import type { Host } from '../ports/host.ts'
import type { Json, Part, ToolCallPart, ToolSpec } from '../ports/message.ts'
import type { FinishReason, Model, ModelEvent, ModelRequest } from '../ports/model.ts'
import { headOf } from '../text/text.ts'
import { type DemoWords, demoLanguageOf, demoWords } from './demo-words.ts'

/** Id of the {@link demoModel}. */
export const DEMO_MODEL_ID = 'demo'

/** Most UTF-16 units of what somebody said that are looked through for what is asked. */
const LONGEST_READ = 4_000
/** Most characters of what somebody said that are repeated. */
const LONGEST_QUOTE = 300
/** The tool that notes each step of a trip. */
const NOTE_TOOL = 'memory_finding'

/**
 * A model that is none, for development without a key. Each reply says so in words, repeats what
 * was said, and tells how full the context is. Asked to remember something, it calls the memory
 * tool for that where it was given one, in words that are said to the user. Asked what it
 * remembers, it repeats what the context has of that, or else calls the tool that looks it up.
 * Asked to plan a trip, it goes through scripted steps and notes each of them. It answers in the
 * language of the widget that the request is in.
 */
export function demoModel({ newId }: Pick<Host, 'newId'>): Model {
  return { id: DEMO_MODEL_ID, complete: (request) => complete(request, newId) }
}

async function* complete(
  { context, tools = context.tools ?? [], settings = {}, signal }: ModelRequest,
  newId: () => string,
): AsyncGenerator<ModelEvent> {
  if (signal?.aborted) throw signal.reason
  const round = roundOf(context)
  const wanted = settings.toolChoice === 'none' ? undefined : callFor(round, tools)
  const call: ToolCallPart | undefined = wanted && {
    type: 'tool-call',
    id: `call_${newId().replaceAll('-', '')}`,
    name: wanted.name,
    input: wanted.input,
  }
  const text = wanted ? (wanted.says ?? '') : replyTo(round)
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (signal?.aborted) throw signal.reason
    yield { type: 'text', text: word }
  }
  if (call) yield { type: 'tool-call', call }
  const reason: FinishReason = call ? 'tool-calls' : 'stop'
  const said: readonly Part[] = text === '' ? [] : [{ type: 'text', text }]
  const content = call ? [...said, call] : text
  yield { type: 'finish', message: { role: 'assistant', content }, reason }
}

/** What is to be answered. */
interface Round {
  readonly context: Context
  /** The user's newest message, its beginning where it is long. */
  readonly said: string
  /** What came after that, the oldest first. */
  readonly since: readonly Block[]
  readonly language: string | undefined
  readonly words: DemoWords
}

function roundOf(context: Context): Round {
  const blocks = conversation(context)
  const place = blocks.findLastIndex(({ role }) => role === 'user')
  const users = blocks.filter(({ role }) => role === 'user').map(saidIn)
  const language = users.reverse().flatMap((text) => demoLanguageOf(text) ?? [])[0]
  return {
    context,
    said: users[0] ?? '',
    since: blocks.slice(place + 1),
    language,
    words: demoWords(language),
  }
}

function saidIn({ parts }: Block): string {
  return headOf(textOf({ content: parts }), LONGEST_READ)
}

interface Wanted {
  readonly says?: string
  readonly name: string
  readonly input: Json
}

/** What is to be called, where what the user said asks for it. */
function callFor(round: Round, tools: readonly ToolSpec[]): Wanted | undefined {
  const { context, said, since, words } = round
  const has = (tool: string): boolean => tools.some(({ name }) => name === tool)
  const calls = since.flatMap(callsIn)
  const place = placeOf(round)
  if (place !== undefined) {
    const step = words.trip.steps[calls.length]
    return step && has(NOTE_TOOL)
      ? { says: step.says, name: NOTE_TOOL, input: { text: step.notes(place) } }
      : undefined
  }
  if (calls.length > 0) return undefined
  const query = words.asks.exec(said)?.[1]?.trim()
  if (query !== undefined)
    return has(RECALL_TOOL) && !words.me.test(query) && rememberedIn(context, query).length === 0
      ? { name: RECALL_TOOL, input: { query } }
      : undefined
  for (const { kind, asks } of words.wishes) {
    const text = has(`memory_${kind}`) && asks.exec(said)?.[1]?.trim()
    if (text) return { name: `memory_${kind}`, input: { text: sentence(words.ofYou(text)) } }
  }
  return undefined
}

/** Begins with a capital, unless its first word has capitals or digits already: `iPad`. */
function sentence(text: string): string {
  return text.replace(/^\p{Ll}(?=\p{Ll}*(?![\p{L}\p{N}]))/u, (letter) => letter.toUpperCase())
}

/** Where a trip goes that is to be planned. */
function placeOf({ said, words: { plans, trip } }: Round): string | undefined {
  const asked = plans.exec(said.trim())
  return asked ? (asked[1]?.trim() ?? trip.place) : undefined
}

function replyTo(round: Round): string {
  const { context, language, words } = round
  const { used, cap } = context.receipt
  const number = new Intl.NumberFormat(language ?? 'en')
  // Calls of tools and their results are no messages to those who read this.
  const count = conversation(context).filter(({ parts }) => parts.some(isSaid)).length
  const given = words.given(
    count,
    number.format(count),
    number.format(used),
    cap === null ? '∞' : number.format(cap),
  )
  const place = placeOf(round)
  if (place === undefined) return `${words.notice} ${ended(answerTo(round), language)} ${given}`
  const { plan, seat, noSeat } = words.trip
  const told = factsIn(context).filter((fact) => seat.test(fact))
  return `${words.notice} ${plan(place, told.length > 0 ? words.told(quoted(told.join(' '))) : noSeat)}\n\n${given}`
}

function answerTo({ context, said, since, words }: Round): string {
  const outputs = since.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool-result'
        ? typeof part.output === 'string'
          ? part.output
          : JSON.stringify(part.output)
        : [],
    ),
  )
  const calls = since.flatMap(callsIn)
  if (outputs.length > 0 && calls.every(({ name }) => WRITES.test(name)))
    return calls.some(({ name }) => name !== NOTE_TOOL)
      ? `${words.remembered} ${words.known}`
      : words.remembered
  const found = outputs.filter((output) => !output.startsWith(NOTHING_FOUND))
  if (found.length > 0) return words.found(quoted(found.map(textFound).join(' | ')))
  const query = words.asks.exec(said)?.[1]?.trim()
  if (query === undefined) return said === '' ? words.silence : words.said(quoted(said))
  const remembered = words.me.test(query) ? factsIn(context) : rememberedIn(context, query)
  return remembered.length > 0 ? words.told(quoted(remembered.join(' '))) : words.nothing
}

/** What was found as a person reads it, without what tells a model where it is from. */
function textFound(output: string): string {
  if (!output.startsWith(RECALLED)) return output
  // Lines of the days, and the first one, neither begin with a dash nor are indented.
  const lines = output.split('\n').filter((line) => /^(- | {2})/.test(line))
  return lines.map((line) => line.replace(/^- .*? \[\w+\]: /, '').trim()).join(' ')
}

/** A line of the memory section: its reference, kind and trust, then what is remembered. */
const FACT = /^- \[[^\]]*\] \S+ \[[^\]]*\] (.+)$/gm
const WRITES = /^memory_(?!recall)/
/** Shorter words are in every sentence. */
const SHORTEST_WORD = 4

/** What is remembered of what is asked for, as far as the context holds it. */
function rememberedIn(context: Context, query: string): readonly string[] {
  const words = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(query.toLowerCase())]
    .filter(({ segment, isWordLike }) => isWordLike && isTelling(segment))
    .map(({ segment }) => segment)
  return factsIn(context).filter((fact) => words.some((word) => fact.toLowerCase().includes(word)))
}

/**
 * What is remembered shows in the memory, and until the next epoch as news in the tail. A call in
 * the window tells what was remembered once, which may be forgotten.
 */
function factsIn({ blocks }: Context): readonly string[] {
  return blocks.flatMap(({ section, parts }) =>
    section === 'memory' || section === 'tail'
      ? [...textOf({ content: parts }).matchAll(FACT)].map(([, fact = '']) => fact)
      : [],
  )
}

function callsIn({ parts }: Block): readonly ToolCallPart[] {
  return parts.flatMap((part) => (part.type === 'tool-call' ? part : []))
}

/** Words of Chinese characters are short and tell much. */
function isTelling(word: string): boolean {
  return word.length >= (/\p{Script=Han}/u.test(word) ? 1 : SHORTEST_WORD)
}

/** What was said, without what the library adds to it. */
function conversation({ blocks }: Context): readonly Block[] {
  return blocks.filter(({ section, from }) => section === 'window' && from.length > 0)
}

function isSaid({ type }: Part): boolean {
  return type !== 'tool-call' && type !== 'tool-result'
}

/** With a full stop, unless what is quoted at its end has an end of its own. */
function ended(text: string, language: string | undefined): string {
  return /[.!?…。！？؟]”?$/u.test(text) ? text : `${text}${language === 'ja' ? '。' : '.'}`
}

function quoted(said: string): string {
  const line = said.replace(/\s+/g, ' ').trim()
  return `“${line.length > LONGEST_QUOTE ? `${headOf(line, LONGEST_QUOTE)}…` : line}”`
}
