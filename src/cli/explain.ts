import { findSession } from '../operations/sessions.ts'
import type { Context, SummaryUse } from '../ports/context.ts'
import type { Explanation, Provider, Source } from '../ports/explanation.ts'
import { explain } from '../render/explain.ts'
import { epochText, shortIds } from '../replay/causes.ts'
import { grouped, percent, shorten, visible } from '../replay/words.ts'
import type { ExplainOptions, ExplainStoredOptions } from './arguments.ts'
import { type Built, buildCalls } from './built.ts'
import { align } from './columns.ts'
import { loadCounter } from './counters.ts'
import { noSession, readDatabase } from './database.ts'
import type { Io } from './io.ts'

const COLUMNS = 120
const SHORTEST_TEXT = 20

/**
 * Prints where every token of one call's request comes from. Resolves to the exit status: 1 if the
 * call is refused, or a line could not be read.
 */
export async function explainCommand(options: ExplainOptions, io: Io): Promise<number> {
  const { call, json } = options
  const built = await buildCalls(options, [call], io)
  if (!built) return 1
  const { conversation, provider, choices, malformed } = built
  const [{ context }] = choices
  print(context, provider, { conversation, call }, header(call, built), json, io)
  return malformed ? 1 : 0
}

/**
 * The same of the request that a stored session would get now from a memory with these settings.
 * Resolves to the exit status: 1 if there is no such session, or the request does not fit.
 */
export async function explainStoredCommand(options: ExplainStoredOptions, io: Io): Promise<number> {
  const { session: sessionId, budget, rounds, keep, provider, json } = options
  const counter = await loadCounter(options.counter, () => {})
  const max = rounds === undefined ? {} : { max: { rounds } }
  const window = { ...max, ...(keep !== undefined && { keep: { rounds: keep } }) }
  return readDatabase(options, { counter, budget, window }, io, async (memory, user) => {
    const stored = await findSession(memory, user, sessionId)
    if (!stored) return noSession(memory, user, sessionId, io)
    const { project = stored.project } = options
    const session = memory.session({ ...user, sessionId }, project === undefined ? {} : { project })
    const context = await session.context({ preview: true, onPending: 'abandon' })
    const { used, cap } = context.receipt
    const line =
      `${visible(sessionId)} for ${provider}: ${grouped(used)} of ${cap === null ? 'no cap' : grouped(cap)} tokens, ` +
      `counted by ${counter.id}\n`
    print(context, provider, { session: sessionId }, line, json, io)
    return 0
  })
}

/** @param whose says in JSON which call it is; `title` says it in text */
function print(
  context: Context,
  provider: Provider,
  whose: object,
  title: string,
  json: boolean,
  io: Io,
): void {
  const { receipt } = context
  const explanation = withSummary(explain(context, provider), receipt.summary)
  const { spans, text, unrendered } = explanation
  io.out(
    json
      ? `${JSON.stringify({ ...whose, provider, receipt, spans, text, unrendered })}\n`
      : [title, table(explanation, io.columns.out ?? COLUMNS), sums(explanation, receipt.used)].join('\n'),
  )
}

/** Names the summary, rather than the head that holds it, as the source of the memory section. */
function withSummary(explanation: Explanation, summary: SummaryUse | undefined): Explanation {
  if (!summary) return explanation
  const name = <Found extends Source>(source: Found): Found =>
    source.section === 'memory' ? { ...source, records: [summary.id] } : source
  const { spans, unrendered } = explanation
  return { ...explanation, spans: spans.map(name), unrendered: unrendered.map(name) }
}

function header(
  call: number,
  { conversation, provider, counter, choices }: Built<readonly [number]>,
): string {
  const [{ context, epoch, omitted, covered, capped }] = choices
  const { used, cap, omitted: ranges, sections, summary } = context.receipt
  const reasons = new Map<string, number>()
  for (const { reason, count } of ranges) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  const why = [...reasons].map(([reason, count]) => `${reason} ${grouped(count)}`).join(', ')
  const missing = sections.reduce((tokens, { overflow }) => tokens + overflow.tokens, 0)
  return [
    `${visible(conversation)}#${call} for ${provider}: ${grouped(used)}${cap === null ? '' : ` of ${grouped(cap)}`} tokens` +
      `${cap === null ? '' : ` (${percent(used / cap, 0)})`}, counted by ${counter}\n`,
    epoch ? `${epochText(epoch)}\n` : '',
    summary ? `${summaryText(summary, covered)}\n` : '',
    `omitted: ${grouped(omitted)} messages${why && ` (${why})`}; `,
    `shown short: ${grouped(capped)} outputs, ${grouped(missing)} tokens of them missing\n`,
  ].join('')
}

function summaryText({ id, place, by, lost }: SummaryUse, covered: number): string {
  const names =
    lost.count === 0 ? 'no names' : `${grouped(lost.count)} names, such as ${visible(lost.first[0] ?? '')},`
  return `summary ${place} (${shortIds([id])}) by ${visible(by)}: stands for ${grouped(covered)} messages, ${names} lost`
}

/** A row for each span, as wide as the columns allow. */
function table({ spans, text }: Explanation, columns: number): string {
  const rows = spans.map(({ from, to, tokens, section, rule, records, trust }) => [
    `${from}-${to}`,
    grouped(tokens),
    section,
    rule,
    shortIds(records),
    trust,
  ])
  const titles = ['characters', 'tokens', 'section', 'rule', 'record', 'trust']
  const [title = '', ...aligned] = align([titles, ...rows], [0, 1])
  const room = Math.max(SHORTEST_TEXT, columns - title.length - 2)
  const lines = spans.map(({ from, to }, row) => `${aligned[row]}  ${beginning(text.slice(from, to), room)}`)
  return [`${title}  text`, ...lines].map((line) => `${line}\n`).join('')
}

/** What the model reads first in a piece of a request, without the keys in front of it. */
function beginning(json: string, length: number): string {
  const { index, 0: key } = READ_FIRST.exec(json) ?? { index: 0, 0: '' }
  return shorten(visible(json.slice(index + key.length)), length)
}

/** A quote inside a JSON string is escaped, so only keys match. */
const READ_FIRST = /"(?:text|thinking|name|content)":(?=")/

function sums({ spans, unrendered }: Explanation, used: number): string {
  const held = sum(spans)
  const sources = unrendered.map(
    ({ section, rule, records, tokens }) => `${shortIds(records)} ${section} ${rule} ${grouped(tokens)}`,
  )
  const rest = sources.length === 0 ? '' : ` (${sources.join(', ')})`
  return (
    `${spans.length} spans hold ${grouped(held)} tokens, ${grouped(sum(unrendered))} more are counted ` +
    `but not rendered${rest}: ${grouped(used)} used\n`
  )
}

function sum(sources: readonly Source[]): number {
  return sources.reduce((total, { tokens }) => total + tokens, 0)
}
