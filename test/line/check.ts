import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import {
  createMemory,
  isPlimsollError,
  mapStore,
  type OpenAIRequest,
  profile,
  toOpenAI,
} from '../../src/index.ts'
import { randomFrom } from '../everywhere/random.ts'
import { CLASSES, mixture, one, type TextClass } from '../unit/support/token-classes.ts'

interface Checked {
  /** Contexts that were built, and calls for which even the least one was too large. */
  readonly made: number
  readonly refused: number
  /** What is above the line, a sentence each. */
  readonly above: readonly string[]
  /** Largest share of a line that a request took. */
  readonly fullest: number
}

const LINES = [1_000, 2_000, 4_000, 8_000] as const
const CALLS = 10
const MIXED: readonly TextClass[] = [...Object.values(CLASSES), mixture(6), mixture(40)]

/** Builds so many contexts with the default counter, of conversations that grow. */
export async function check(options: { readonly contexts: number; readonly seed: number }): Promise<Checked> {
  const random = randomFrom(options.seed)
  const above: string[] = []
  let made = 0
  let refused = 0
  let fullest = 0
  while (made + refused < options.contexts) {
    const line = one(random, LINES)
    // Mostly one class: what is counted too low adds up.
    const classes = random() < 0.7 ? [one(random, MIXED)] : MIXED
    const text = (length: number): string => wellFormed(one(random, classes)(random, length).slice(0, length))
    const memory = createMemory({ store: mapStore(), budget: line, system: text(40), use: [profile()] })
    // Some with documents, and of these some that are shortened.
    for (const name of random() < 0.3 ? ['SOUL.md', 'MEMORY.md'] : [])
      await memory.user({ userId: 'ada' }).profile.set(name, text(Math.floor(random() * line)))
    const session = memory.session({ userId: 'ada' })
    for (let call = 0; call < CALLS && made + refused < options.contexts; call++) {
      await session.append({ role: 'user', content: text(1 + Math.floor(random() * line * 0.6)) })
      if (random() < 0.4) {
        const id = `call-${call}`
        await session.append({
          role: 'assistant',
          content: [{ type: 'tool-call', id, name: 'look_up', input: { query: text(60) } }],
        })
        const output = random() < 0.5 ? text(line) : { found: [text(line / 2), call] }
        await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: id, output }] })
      }
      // A lane may begin on a log that is there already.
      if (call < CALLS / 2 && random() < 0.2) continue
      const tail = random() < 0.3 ? text(60) : ''
      try {
        const request = toOpenAI(await session.context({ ...(tail !== '' && { tail }) }))
        made++
        const tokens = tokensOf(request)
        fullest = Math.max(fullest, tokens / line)
        if (tokens > line) above.push(`context ${made} has ${tokens} tokens, above ${line}`)
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
        refused++
      }
    }
  }
  return { made, refused, above, fullest }
}

/** As chat formats count: 3 tokens a message and for the reply, the role, and every text. */
function tokensOf({ messages }: OpenAIRequest): number {
  return messages.reduce((sum, message) => {
    const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : []
    const texts = calls.flatMap((call) => [call.function.name, call.function.arguments])
    const content = typeof message.content === 'string' ? [message.content] : (message.content ?? [])
    for (const part of content) texts.push(typeof part === 'string' ? part : JSON.stringify(part))
    return 4 + sum + texts.reduce((all, text) => all + exact(text), 0)
  }, 3)
}

/** A message holds no lone surrogate. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\ufffd')
}

function exact(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() })
}
