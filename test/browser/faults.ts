/**
 * The page that `test/faults/browser.ts` drives: writes until it is killed or full, and says what
 * it finds.
 */
import { decide } from '../../src/kernel/log/decide.ts'
import { isPlimsollError } from '../../src/ports/errors.ts'
import { type DexieStoreOptions, dexieStore } from '../../src/stores/dexie.ts'
import { append, readLog, remove, SCOPE } from '../contract/samples.ts'

declare const acknowledge: (id: string, seq: number) => Promise<void>

export interface Found {
  /** Ids in the log's order. */
  readonly ids: readonly string[]
  readonly gapless: boolean
  readonly state: string
}

/**
 * Appends one op of two messages after the other, for ever; tells of each that was acknowledged.
 */
async function write(options: DexieStoreOptions, prefix: string): Promise<void> {
  const scope = dexieStore(options).open(SCOPE)
  for (let turn = 0; ; turn++) {
    const id = `${prefix}-${turn}`
    const [result] = await scope.commit([append(id, [`${id}-question`, `${id}-answer`])], decide)
    if (result?.status === 'accepted') void acknowledge(id, result.seq)
  }
}

async function find(options: DexieStoreOptions): Promise<Found> {
  const store = dexieStore(options)
  const scope = store.open(SCOPE)
  const rows = await readLog(scope)
  const seqs = [...new Set(rows.map(({ seq }) => seq))]
  const whole = rows.every((row, index) =>
    row.place === 0 ? rows[index + 1]?.seq === row.seq : rows[index - 1]?.seq === row.seq,
  )
  const found = {
    ids: rows.flatMap(({ opId, place }) => (place === 0 ? opId : [])),
    gapless: whole && seqs.every((seq, index) => seq === index + 1),
    state: store.status().state,
  }
  await store.close()
  return found
}

/** Sends an op of {@link write} again. @returns its seq */
async function resend(options: DexieStoreOptions, id: string): Promise<number> {
  const store = dexieStore(options)
  const ops = [append(id, [`${id}-question`, `${id}-answer`])]
  const [result] = await store.open(SCOPE).commit(ops, decide)
  await store.close()
  return result?.status === 'accepted' ? result.seq : 0
}

/** Appends messages until there is no more room, then reads, deletes and appends again. */
async function fill(options: DexieStoreOptions): Promise<object> {
  const store = dexieStore(options)
  const scope = store.open(SCOPE)
  // What the engine cannot compress.
  const bytes = crypto.getRandomValues(new Uint8Array(2 ** 16))
  const body = Array.from(bytes, (byte) => String.fromCharCode(0x4e00 + byte * 64)).join('')
  const acknowledged: string[] = []
  let refusal: unknown
  while (!refusal && acknowledged.length < 500) {
    const id = `m${acknowledged.length}`
    await scope.commit([append(id, [id], { bodies: [body + id] })], decide).then(
      () => acknowledged.push(id),
      (error: unknown) => {
        refusal = error
      },
    )
  }
  const read = await readLog(scope)
  const deleted: string[] = []
  for (const id of acknowledged.slice(0, 8)) {
    const done = await scope.commit([remove(`delete ${id}`, `entry:${id}`)], decide).catch(String)
    if (typeof done !== 'string' && done[0]?.status === 'accepted') deleted.push(id)
  }
  const after = await readLog(scope)
  return {
    code: isPlimsollError(refusal) ? refusal.code : String(refusal),
    cause: isPlimsollError(refusal) ? String((refusal.cause as Error | undefined)?.name) : '',
    acknowledged: acknowledged.length,
    readBack: read.filter((row, index) => row.id === `m${index}` && row.body === body + row.id).length,
    rows: read.length,
    deleted: deleted.length,
    emptied: after.filter((row) => row.kind === 'message' && row.body === null).length,
    small: await scope.commit([append('small', ['small'])], decide).catch(String),
    status: store.status().state,
  }
}

/** A store that stays open, to look at again and again. */
async function hold(options: DexieStoreOptions): Promise<{ look: () => Promise<string> }> {
  const store = dexieStore(options)
  const scope = store.open(SCOPE)
  const look = async (): Promise<string> => {
    const failed = await scope.changesSince(0).then(
      () => '',
      (error: unknown) => ` ${isPlimsollError(error) ? error.code : error}`,
    )
    return store.status().state + failed
  }
  await look()
  return { look }
}

Object.assign(globalThis, { write, find, resend, fill, hold })
