import type { Usage } from '../ports/model.ts'
import type { CallUsage, ReportedTokens, RunUsage } from './middleware.ts'

/** What a provider reported; nothing, where it said neither what went in nor what came out. */
export function reportedBy(usage: Usage | undefined): ReportedTokens | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage
  return {
    cached: cachedInputTokens,
    uncached: Math.max(0, inputTokens - cachedInputTokens),
    output: outputTokens,
  }
}

export const NO_USAGE: RunUsage = {
  predicted: { input: 0, cached: 0 },
  reported: { cached: 0, uncached: 0, output: 0 },
}

export function addUsage({ predicted, reported }: RunUsage, call: CallUsage): RunUsage {
  const more = call.reported ?? NO_USAGE.reported
  return {
    predicted: {
      input: predicted.input + call.predicted.input,
      cached: predicted.cached + call.predicted.cached,
    },
    reported: {
      cached: reported.cached + more.cached,
      uncached: reported.uncached + more.uncached,
      output: reported.output + more.output,
    },
  }
}

/** Reported minus predicted, of the input. */
export function difference({
  predicted,
  reported,
}: CallUsage): { input: number; cached: number } | undefined {
  return (
    reported && {
      input: reported.cached + reported.uncached - predicted.input,
      cached: reported.cached - predicted.cached,
    }
  )
}
