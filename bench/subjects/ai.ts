import { type ModelMessage, pruneMessages } from 'ai'
import type { Build, Subject } from '../subject.ts'
import { convert, systemMessage, toRequest } from './model-messages.ts'

/** The options of its own documentation's example. It has no token budget: all text is kept. */
export const subject: Subject = {
  steps: ['ai pruneMessages (no token budget)'],
  async open(history) {
    const messages: ModelMessage[] = [systemMessage]
    let kept: readonly ModelMessage[] = []
    for (const exchange of history) for (const message of exchange) messages.push(convert(message))
    return {
      append: (exchange) => messages.push(...exchange.map(convert)),
      steps: [
        () => {
          kept = prune(messages)
        },
      ],
      shown: () => ({ messages: kept.length - 1 }),
    }
  },
}

export const build: Build = async (history) => toRequest(prune([systemMessage, ...history.map(convert)]))

function prune(messages: ModelMessage[]): ModelMessage[] {
  return pruneMessages({
    messages,
    reasoning: 'before-last-message',
    toolCalls: 'before-last-2-messages',
    emptyMessages: 'remove',
  })
}
