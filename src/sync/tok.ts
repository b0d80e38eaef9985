import { randomHex } from '../platform/secret.ts'
import type { LogRow } from '../ports/store.ts'

/** A random value: 96 bits in hex. */
export function newTok(): string {
  return randomHex(12)
}

/**
 * What a home keeps with a row: in the first one of an op its `tok`, and names that nothing else
 * tells later. The sources of a put: its register loses these when it is written over or emptied,
 * and others need them to empty the same. The attachments of an append, with each message that a
 * home cannot read: they are forgotten with it.
 */
export function tokWith(tok: string, names: readonly string[] = []): string {
  return names.length > 0 ? `${tok} ${JSON.stringify(names)}` : tok
}

/**
 * What a place in the log is known by. Rows from before it was a home have no tok: nobody knew them
 * then, and from then on none is written without.
 */
export function tokOf({ tok, opId }: LogRow): string {
  return tok === undefined ? `op:${opId}` : (tok.split(' ', 1)[0] as string)
}

/** The names that a home keeps with an op. */
export function namesIn({ tok = '' }: Pick<LogRow, 'tok'>): readonly string[] | undefined {
  const at = tok.indexOf(' ')
  return at < 0 ? undefined : (JSON.parse(tok.slice(at)) as readonly string[])
}
