import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  trimMessages,
} from '@langchain/core/messages'
import type { MessageInput } from '../../src/ports/message.ts'
import { estimateText, outputText } from '../estimate.ts'
import { SYSTEM } from '../history.ts'
import { BUDGET, type Build, type Subject } from '../subject.ts'

export const subject: Subject = {
  steps: ['@langchain/core trimMessages (last, chars/4)'],
  async open(history) {
    const messages: BaseMessage[] = [new SystemMessage(SYSTEM)]
    let kept: readonly BaseMessage[] = []
    for (const exchange of history) for (const message of exchange) messages.push(convert(message))
    return {
      append: (exchange) => messages.push(...exchange.map(convert)),
      steps: [
        async () => {
          kept = await trim(messages, BUDGET)
        },
      ],
      shown: () => ({ messages: kept.length - 1, tokens: countTokens(kept) }),
    }
  },
}

export const build: Build = async (history, budget) => {
  const kept = await trim([new SystemMessage(SYSTEM), ...history.map(convert)], budget)
  const shown = kept.filter((message) => !(message instanceof SystemMessage))
  return shown.map((message) => ({
    calls: message instanceof AIMessage ? (message.tool_calls ?? []).map((call) => call.id ?? '') : [],
    results: message instanceof ToolMessage ? [message.tool_call_id] : [],
  }))
}

function trim(messages: BaseMessage[], maxTokens: number): Promise<BaseMessage[]> {
  return trimMessages(messages, {
    maxTokens,
    strategy: 'last',
    tokenCounter: countTokens,
    startOn: 'human',
    includeSystem: true,
  })
}

/** As cheap as a counter can be that looks at the text. */
function countTokens(messages: readonly BaseMessage[]): number {
  let sum = 0
  for (const message of messages) {
    sum += 4 + estimateText(typeof message.content === 'string' ? message.content : '')
    if (!(message instanceof AIMessage)) continue
    for (const call of message.tool_calls ?? []) {
      sum += estimateText(call.name) + estimateText(JSON.stringify(call.args))
    }
  }
  return sum
}

function convert({ role, content }: MessageInput): BaseMessage {
  if (typeof content === 'string') return role === 'user' ? new HumanMessage(content) : new AIMessage(content)
  const [first] = content
  if (first?.type === 'tool-result') {
    return new ToolMessage({ content: outputText(first.output), tool_call_id: first.callId })
  }
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
  return new AIMessage({
    content: '',
    tool_calls: calls.map(({ id, name, input }) => ({ id, name, args: input as Record<string, unknown> })),
  })
}
