import { type Bundle, bundle, type Program } from '../bundle.ts'

export interface Size extends Bundle {
  readonly name: string
}

export const ENGINE_SIZE = 'plimsoll recall, without a stemmer'

const ENGINE = `export { RecallIndex } from '../src/features/recall/recall-index.ts'
  export { rank } from '../src/features/recall/rank.ts'
  export { termsOf } from '../src/features/recall/message-terms.ts'`
const STEMMER = `export { englishStemmer } from '../src/stemmer.ts'`

const PROGRAMS: readonly Program[] = [
  { name: ENGINE_SIZE, code: ENGINE },
  { name: 'plimsoll/stemmer', code: STEMMER },
  { name: 'plimsoll recall and plimsoll/stemmer', code: `${ENGINE}\n${STEMMER}` },
  { name: 'minisearch', code: `export { default } from 'minisearch'` },
]

export async function measureSizes(): Promise<Size[]> {
  const sizes: Size[] = []
  for (const program of PROGRAMS) sizes.push({ name: program.name, ...(await bundle(program)) })
  return sizes
}
