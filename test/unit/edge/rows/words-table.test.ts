import { expect, it } from 'vitest'
import { WordsTable } from '../../../../src/edge/rows/words-table.ts'
import { sqliteStorage } from '../support/sqlite-storage.ts'

const block = (from: number, to: number, seq: number) => ({
  sessionId: 's',
  kind: 'k',
  rewoundAt: 0,
  from,
  to,
  seq,
  at: 1,
  bytes: Uint8Array.of(from),
})

it('drops blocks that were read before what was forgotten, though a later one was read after it', () => {
  const words = new WordsTable(sqliteStorage())
  words.put(block(0, 64, 64))
  words.put(block(64, 65, 71))
  words.drop({ sessionId: 's', seq: 70 })
  expect(words.of('s')).toBeUndefined()
})

it('keeps what was all read after what was forgotten', () => {
  const words = new WordsTable(sqliteStorage())
  words.put(block(0, 64, 70))
  words.put(block(64, 65, 71))
  words.drop({ sessionId: 's', seq: 70 })
  expect(words.of('s')?.blocks).toHaveLength(2)
})
