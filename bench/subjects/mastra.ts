import { type ProcessLLMRequestArgs, TokenLimiterProcessor } from '@mastra/core/processors'
import type { ModelMessage } from 'ai'
import { BUDGET, type Build, type Subject } from '../subject.ts'
import { convert, systemMessage, toRequest } from './model-messages.ts'

export type TrimMode = 'contiguous' | 'best-fit'

type Prompt = ProcessLLMRequestArgs['prompt']

export function mastraSubject(trimMode: TrimMode): Subject {
  return {
    steps: [`Mastra TokenLimiter (${trimMode})`],
    async open(history) {
      const limiter = new TokenLimiterProcessor({ limit: BUDGET, trimMode })
      const prompt = [systemMessage]
      let kept: Prompt = []
      for (const exchange of history) for (const message of exchange) prompt.push(convert(message))
      return {
        append: (exchange) => prompt.push(...exchange.map(convert)),
        steps: [
          async () => {
            kept = await limit(limiter, prompt as Prompt)
          },
        ],
        shown: () => ({ messages: kept.length - 1 }),
      }
    },
  }
}

export function mastraBuild(trimMode: TrimMode): Build {
  return async (history, budget) => {
    const limiter = new TokenLimiterProcessor({ limit: budget, trimMode })
    try {
      const kept = await limit(limiter, [systemMessage, ...history.map(convert)] as Prompt)
      return toRequest(kept as ModelMessage[])
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('TokenLimiterProcessor:')) return undefined
      throw error
    }
  }
}

/** The limiter as a model call runs it. It reads nothing but the prompt. */
async function limit(limiter: TokenLimiterProcessor, prompt: Prompt): Promise<Prompt> {
  const result = await limiter.processLLMRequest({ prompt } as ProcessLLMRequestArgs)
  return result?.prompt ?? prompt
}
