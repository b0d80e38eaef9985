import { type Bundle, bundle, type Program } from '../bundle.ts'

export interface Size extends Bundle {
  readonly name: string
}

export const DEFAULT_SIZE = 'plimsoll default'

const PROGRAMS: readonly Program[] = [
  { name: DEFAULT_SIZE, code: `export { defaultCounter } from '../src/counters/default.ts'` },
  {
    name: 'plimsoll/o200k, without tables',
    code: `export { loadO200k } from 'plimsoll/o200k'`,
    external: ['gpt-tokenizer/*'],
  },
  { name: 'plimsoll/o200k', code: `export { loadO200k } from 'plimsoll/o200k'` },
  { name: 'gpt-tokenizer o200k', code: `export { countTokens } from 'gpt-tokenizer/encoding/o200k_base'` },
  {
    name: 'js-tiktoken lite, o200k',
    code: `export { Tiktoken } from 'js-tiktoken/lite'; export { default } from 'js-tiktoken/ranks/o200k_base'`,
  },
  {
    name: 'tiktoken lite, o200k',
    code: `export { init, Tiktoken } from 'tiktoken/lite/init'
      export { default as wasm } from 'tiktoken/lite/tiktoken_bg.wasm'
      export { default as ranks } from 'tiktoken/encoders/o200k_base.json'`,
  },
  { name: 'tokenx', code: `export { estimateTokenCount } from 'tokenx'` },
]

export async function measureSizes(): Promise<Size[]> {
  const sizes: Size[] = []
  for (const program of PROGRAMS) sizes.push({ name: program.name, ...(await bundle(program)) })
  return sizes
}
