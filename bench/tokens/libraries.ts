/** A token counter as it is measured, ours or a peer's, all for the o200k encoding. */
export interface Library {
  count(text: string): number
  /** Only of exact counters. */
  encode?(text: string): ArrayLike<number>
  /** Drops what earlier texts left in a cache. */
  forget?(): void
}

/** How each is loaded; a process that measures one loads no other. */
const LOADERS = {
  'plimsoll o200k': async (): Promise<Library> => {
    const { loadO200k } = await import('../../src/counters/o200k.ts')
    return loadO200k()
  },
  'plimsoll default': async (): Promise<Library> => {
    const { defaultCounter } = await import('../../src/counters/default.ts')
    return defaultCounter
  },
  'gpt-tokenizer': async (): Promise<Library> => {
    const { clearMergeCache, countTokens, encode } = await import('gpt-tokenizer/encoding/o200k_base')
    // Special tokens are plain text, as in ours; it also spares it the search for them.
    const plain = { disallowedSpecial: new Set<string>() }
    return {
      count: (text) => countTokens(text, plain),
      encode: (text) => encode(text, plain),
      forget: clearMergeCache,
    }
  },
  'js-tiktoken': async (): Promise<Library> => {
    const { Tiktoken } = await import('js-tiktoken/lite')
    const { default: ranks } = await import('js-tiktoken/ranks/o200k_base')
    const encoding = new Tiktoken(ranks)
    const encode = (text: string) => encoding.encode(text, [], [])
    return { count: (text) => encode(text).length, encode }
  },
  tiktoken: async (): Promise<Library> => {
    const { Tiktoken } = await import('tiktoken/lite')
    const { default: ranks } = await import('tiktoken/encoders/o200k_base.json', { with: { type: 'json' } })
    const encoding = new Tiktoken(ranks.bpe_ranks, ranks.special_tokens, ranks.pat_str)
    const encode = (text: string) => encoding.encode_ordinary(text)
    return { count: (text) => encode(text).length, encode }
  },
  tokenx: async (): Promise<Library> => {
    const { estimateTokenCount } = await import('tokenx')
    return { count: (text) => estimateTokenCount(text) }
  },
  'charsPerToken(4)': async (): Promise<Library> => {
    const { charsPerToken } = await import('../../src/counters/simple.ts')
    return charsPerToken(4)
  },
} as const

export type LibraryName = keyof typeof LOADERS

export const OURS = 'plimsoll o200k'
/** The same with tables that come from a worker, which differs only in how it is loaded. */
export const IN_WORKER = 'plimsoll o200k, from a worker'
export const DEFAULT = 'plimsoll default'

/** The packages that are compared, for the report. */
export const PACKAGES = ['gpt-tokenizer', 'js-tiktoken', 'tiktoken', 'tokenx']

export const loadLibrary = (name: LibraryName): Promise<Library> => LOADERS[name]()
