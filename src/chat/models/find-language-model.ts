import type { PlainMessage } from '../settings.ts'

/** As much of `LanguageModel` as is used here. */
export interface LanguageModelClass {
  availability(): Promise<LanguageModelState>
  create(options: {
    readonly initialPrompts?: readonly PlainMessage[]
    readonly signal?: AbortSignal
    readonly monitor?: (monitor: EventTarget) => void
  }): Promise<LanguageModelSession>
}

export type LanguageModelState = 'unavailable' | 'downloadable' | 'downloading' | 'available'

export interface LanguageModelSession {
  promptStreaming(input: string, options: { readonly signal: AbortSignal }): ReadableStream<string>
  destroy(): void
}

/** Languages in which Chrome's model answers. */
const SPOKEN = ['de', 'en', 'es', 'fr', 'ja']

/**
 * The browser's, if it has one, told which language it is to answer in: that of the browser, where
 * it has it, else English.
 */
export function findLanguageModel(): LanguageModelClass | undefined {
  const found = (globalThis as { readonly LanguageModel?: BrowserClass }).LanguageModel
  if (!found) return undefined
  const own = navigator.language.split('-')[0] ?? ''
  const language = SPOKEN.includes(own) ? own : 'en'
  const expected = { expectedOutputs: [{ type: 'text', languages: [language] }] } as const
  return {
    availability: () => found.availability(expected),
    create: (options) => found.create({ ...expected, ...options }),
  }
}

interface Expected {
  readonly expectedOutputs: readonly { readonly type: 'text'; readonly languages: readonly string[] }[]
}

interface BrowserClass {
  availability(options: Expected): Promise<LanguageModelState>
  create(options: Expected & Parameters<LanguageModelClass['create']>[0]): Promise<LanguageModelSession>
}
