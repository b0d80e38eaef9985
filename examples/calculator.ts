// An agent passes the line in the middle of its work: what a plain cut would send, and what
// Plimsoll sends.
import { type Context, lintRequest, toAnthropic, toOpenAI } from 'plimsoll'
import { calculate, classicCount, naiveCut, summaryIn, tokensOf } from './calculator-run.ts'

const lint = (context: Context) => [
  ...lintRequest(toOpenAI(context), 'openai').map(({ rule, message }) => `openai: ${rule}, ${message}`),
  ...lintRequest(toAnthropic(context), 'anthropic').map(
    ({ rule, message }) => `anthropic: ${rule}, ${message}`,
  ),
]
const toolTokens = ({ receipt }: Context) =>
  receipt.sections.find(({ name }) => name === 'tools')?.tokens ?? 0

console.log('The model is scripted, as agent and as summariser: no model is called.\n')

const unbounded = await calculate({ contextWindow: 1_000_000 })
const whole = unbounded.calls.at(-1) as Context
const answer = tokensOf(unbounded.result.answer)
console.log(
  `Without a line: ${whole.blocks.length + 1} messages, ${classicCount(whole) + answer} tokens, ` +
    `${unbounded.result.summaries} summaries.\n`,
)

const schema = toolTokens(whole)
const { result, requests, calls, compactions } = await calculate({ contextWindow: 100 + schema })
console.log(`With the line at 100 tokens, and ${schema} for the tool's schema beside it:`)
calls.forEach((context, index) => {
  const compaction = context.receipt.summary ? compactions[0] : undefined
  if (compaction) console.log(`  before call ${index + 1}: ${compaction.tokensBefore} tokens, above the line`)
  console.log(`  call ${index + 1}: ${classicCount(context)} tokens, ${context.blocks.length} messages`)
})

const last = calls.at(-1) as Context
const memory = last.blocks.find(({ section }) => section === 'memory') as Context['blocks'][number]
const naive = naiveCut(last)
console.log(`
A naive cut to the last 3 messages behind the summary: ${classicCount(naive)} tokens, but providers refuse it:
${lint(naive)
  .map((problem) => `  ${problem}`)
  .join('\n')}

Plimsoll's: ${classicCount(last)} tokens, of ${last.receipt.used - schema} with the fence around the summary:
${summaryIn(memory).replace(/^/gm, '  ')}
Why: the newest 3 messages begin with a result, so its call stays too: the window is cut between steps. The goal has no
room beside that: it is folded into the summary with the first two steps.

Problems found in the ${requests.length} requests: ${requests.flatMap(lint).length}
Answer: ${result.answer}
After it: ${classicCount(last) + answer} tokens, ${result.steps} steps, ${result.summaries} summary.`)
