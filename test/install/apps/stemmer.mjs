import { englishStemmer } from 'plimsoll/stemmer'
import { refused } from './refused.mjs'

await refused('plimsoll/stemmer: needs `stemmer` 2 or later, found an older one', () =>
  englishStemmer.stem('walking'),
)
