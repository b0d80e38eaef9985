import assert from 'node:assert/strict'
import { loadO200k } from 'plimsoll/o200k'

assert.deepEqual((await loadO200k()).encode('tiktoken is great!'), [83, 8251, 2488, 382, 2212, 0])
