/**
 * The law of the door: whatever part of the conversation a client sends, and however often it has
 * to ask, the log shows the one true conversation. The client here keeps that conversation; the
 * server is a real session, and its model may fail and its answers get lost.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit } from '../../../../../src/edge/turn/completions/admit.ts'
import { sentItems } from '../../../../../src/edge/turn/completions/items.ts'
import {
  type ConversationMessage,
  readCompletionRequest,
} from '../../../../../src/edge/turn/completions/request.ts'
import { mapStore } from '../../../../../src/index.ts'
import { toOpenAI } from '../../../../../src/render/openai.ts'
import { parseOpenAIReply } from '../../../../../src/render/openai-input.ts'
import { type FullSession, fullMemory } from '../../../../contract/full-memory.ts'
import { logOf } from '../../../support/chat-client.ts'
import { runs } from '../../../support/runs.ts'

/**
 * What goes wrong with an attempt: it does not arrive, the model fails, or the answer gets lost.
 */
type Fault = 'lost-before' | 'fails' | 'lost-after'

interface Turn {
  /** What the client changes of its history before it speaks, counted from the end. */
  readonly back?: number
  readonly text: string
  /** How many messages before the new ones are sent; `Infinity`: all. */
  readonly history: number
  readonly faults: readonly Fault[]
  readonly reply: string
  readonly calls: number
  /** Where calls wait: whether their results are sent, or the user says something else. */
  readonly answers: boolean
}

/** A word more or less: most messages are repeated somewhere. */
const text = fc.constantFrom('yes', 'no', ' yes', 'go on\n', '')
const turnOf = (faults: readonly Fault[], more: Partial<Record<keyof Turn, fc.Arbitrary<unknown>>> = {}) =>
  fc.record({
    text,
    history: fc.oneof(fc.constant(0), fc.constant(Infinity), fc.integer({ min: 0, max: 6 })),
    faults: fc.array(fc.constantFrom(...faults), { maxLength: 3 }),
    reply: fc.constantFrom('Sure.', 'No.', ' Sure. '),
    calls: fc.constantFrom(0, 0, 0, 1, 2),
    answers: fc.boolean(),
    ...more,
  }) as fc.Arbitrary<Turn>

/** How the client says that it asks again. */
type Signal = 'none' | 'key' | 'flag'

class Client {
  conversation: ConversationMessage[] = []
  readonly session: FullSession = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
  readonly #signal: Signal
  #turns = 0
  #calls = 0

  constructor(signal: Signal) {
    this.#signal = signal
  }

  async take(turn: Turn): Promise<void> {
    if (turn.back !== undefined) this.#goBack(turn.back)
    const added = this.#say(turn)
    this.conversation.push(...added)
    const from = Math.max(0, this.conversation.length - added.length - turn.history)
    const messages = this.conversation.slice(from)
    const key = `turn ${this.#turns++}`
    for (const [attempt, fault] of [...turn.faults, undefined].entries()) {
      if (fault === 'lost-before') continue
      const reply = await this.#ask(messages, key, attempt > 0, fault === 'fails' ? undefined : turn)
      if (fault === undefined && reply) this.conversation.push(rewritten(reply))
    }
  }

  /** The server's side of one attempt. */
  async #ask(
    messages: readonly ConversationMessage[],
    key: string,
    isRetry: boolean,
    turn: Turn | undefined,
  ): Promise<ConversationMessage | undefined> {
    const request = readCompletionRequest({ model: 'plimsoll', messages })
    const { reply, round } = await admit(this.session, sentItems(request.messages), {
      ...(this.#signal === 'key' && { idempotencyKey: key }),
      isRetry: this.#signal === 'flag' && isRetry,
    })
    if (reply) {
      const [shown] = toOpenAI({
        blocks: [{ section: 'window', role: 'assistant', parts: partsOf(reply.content) }],
      } as never).messages
      return shown as ConversationMessage
    }
    // A model could be asked: nothing waits for a result.
    await this.session.context()
    if (!turn) return undefined
    const calls = Array.from({ length: turn.calls }, () => ({
      id: `call_${this.#calls++}`,
      type: 'function' as const,
      function: { name: 'search', arguments: '{"b":1,"a":2}' },
    }))
    const said = {
      role: 'assistant' as const,
      content: turn.reply,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    await this.session.append(parseOpenAIReply(said), round === undefined ? {} : { round })
    return said
  }

  #say({ text, answers }: Turn): ConversationMessage[] {
    const last = this.conversation.at(-1)
    const calls = (last?.role === 'assistant' && last.tool_calls) || []
    if (calls.length === 0 || !answers) return [{ role: 'user', content: text }]
    return calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: text }))
  }

  /**
   * To before a message of the user's, but not to before the first reply: there is nothing then by
   * which to know the log.
   */
  #goBack(back: number): void {
    const places = this.conversation.flatMap(({ role }, place) => (role === 'user' && place > 1 ? place : []))
    const place = places.at(-1 - back)
    if (place !== undefined) this.conversation = this.conversation.slice(0, place)
  }
}

const partsOf = (content: unknown) =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** As many clients keep a reply: trimmed, and its arguments parsed and written again. */
function rewritten(reply: ConversationMessage): ConversationMessage {
  if (reply.role !== 'assistant' || typeof reply.content !== 'string') return reply
  const calls = reply.tool_calls?.map((call) => ({
    ...call,
    function: { ...call.function, arguments: '{ "a": 2, "b": 1 }' },
  }))
  return { ...reply, content: reply.content.trim(), ...(calls && { tool_calls: calls }) }
}

/**
 * As they are compared: clients may trim what a model said, and write its arguments in another
 * order.
 */
async function expectTrue({ session, conversation }: Client): Promise<void> {
  const truth = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
  const inputs = sentItems(conversation.map((message, index) => ({ message, index }))).map(
    ({ input }) => input,
  )
  if (inputs.length > 0) await truth.append(inputs)
  const trimmed = (lines: readonly string[]) =>
    lines.map((line) =>
      line
        .replaceAll('{"b":1,"a":2}', '{"a":2,"b":1}')
        .replace(/^assistant:\s*/, 'assistant: ')
        .replace(/\s*( \||$)/g, '$1'),
    )
  expect(trimmed(await logOf(session))).toEqual(trimmed(await logOf(truth)))
}

async function check(signal: Signal, turns: readonly Turn[]): Promise<void> {
  const client = new Client(signal)
  for (const turn of turns) {
    await client.take(turn)
    await expectTrue(client)
  }
}

describe('the log of a session behind the door', () => {
  it('is the one true conversation where all words repeat, requests do not arrive and models fail', async () => {
    const turns = fc.array(turnOf(['lost-before', 'fails']), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(turns, (some) => check('none', some)),
      runs(300),
    )
  })

  it('is so too where answers get lost, and the client names its requests', async () => {
    const turns = fc.array(turnOf(['lost-before', 'fails', 'lost-after']), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(turns, (some) => check('key', some)),
      runs(300),
    )
  })

  it('is so too where answers get lost, and the client says that it asks again', async () => {
    const turns = fc.array(turnOf(['fails', 'lost-after']), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(turns, (some) => check('flag', some)),
      runs(300),
    )
  })

  it('is so too where the client edits its history and has replies made again, as long as replies differ', async () => {
    let replies = 0
    const more = {
      back: fc.option(fc.nat(4), { nil: undefined }),
      history: fc.constant(Infinity),
      reply: fc.constant('').map(() => `Reply ${replies++}.`),
    }
    const turns = fc.array(turnOf(['lost-before', 'fails'], more), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(turns, (some) => check('none', some)),
      runs(300),
    )
  })

  it('is so too where the client sends the end of its history, does not name its requests and answers get lost', async () => {
    let replies = 0
    const more = {
      history: fc.integer({ min: 1, max: 6 }),
      reply: fc.constant('').map(() => `Reply ${replies++}.`),
    }
    const first = turnOf(['lost-before', 'fails'], { reply: more.reply })
    const turns = fc.tuple(
      first,
      fc.array(turnOf(['lost-before', 'fails', 'lost-after'], more), { maxLength: 8 }),
    )
    await fc.assert(
      fc.asyncProperty(turns, ([one, some]) => check('none', [one, ...some])),
      runs(300),
    )
  })
})
