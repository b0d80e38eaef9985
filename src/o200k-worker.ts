/**
 * A module worker that reads and builds the tables of the o200k encoding for
 * `loadO200k({ worker })`, so that the page does neither and does not keep the rank table from
 * which they are built.
 */
import { ASK, readTables } from './counters/o200k.ts'
import { answerWith } from './platform/worker.ts'

answerWith(ASK, async () => {
  const tables = await readTables()
  return { message: { tables }, buffers: Object.values(tables).map(({ buffer }) => buffer as ArrayBuffer) }
})
