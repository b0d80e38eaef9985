import { newSecret } from '../platform/secret.ts'
import type { Name } from '../ports/op.ts'
import type { LogRow } from '../ports/store.ts'

/** A random value: 96 bits in hex. */
export function newTok(): string {
  return newSecret().slice(0, 24)
}

/**
 * What a home keeps with an op: its `tok`, and of a put the sources. Its register loses these when
 * it is written over or emptied, and others need them to empty the same.
 */
export function tokWith(tok: string, sources: readonly Name[] | false | undefined): string {
  return sources && sources.length > 0 ? `${tok} ${JSON.stringify(sources)}` : tok
}

/**
 * What a place in the log is known by. Rows from before it was a home have no tok: nobody knew them
 * then, and from then on none is written without.
 */
export function tokOf({ tok, opId }: LogRow): string {
  return tok === undefined ? `op:${opId}` : (tok.split(' ', 1)[0] as string)
}

/** The sources of a put, as its home keeps them. */
export function sourcesIn({ tok = '' }: Pick<LogRow, 'tok'>): readonly Name[] | undefined {
  const at = tok.indexOf(' ')
  return at < 0 ? undefined : (JSON.parse(tok.slice(at)) as readonly Name[])
}
