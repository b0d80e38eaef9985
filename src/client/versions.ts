import { etagOf } from '../ports/etag.ts'
import type { WriteOptions } from './options.ts'

/** How a write of something that has versions may be bound. */
export interface VersionedOptions extends WriteOptions {
  /**
   * Writes only over this version; `null`: only where there is none. Default: over whatever is
   * there.
   */
  readonly ifVersion?: string | null
}

type Headers = { readonly [name: string]: string }

/** The options of a request for a bound write (RFC 9110, section 13.1). */
export function boundTo({ ifVersion, ...options }: VersionedOptions = {}): WriteOptions & {
  readonly headers?: Headers | undefined
} {
  const headers =
    ifVersion === null
      ? { 'if-none-match': '*' }
      : ifVersion !== undefined && { 'if-match': etagOf(ifVersion) }
  return { ...options, ...(headers && { headers }) }
}

/** The header of a read that is of use only where another version is there. */
export function unless(version: string | undefined): Headers | undefined {
  return version === undefined ? undefined : { 'if-none-match': etagOf(version) }
}
