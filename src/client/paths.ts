import { invalid } from '../ports/options.ts'

/** A path under `/v1`. @throws ERR_INVALID_ARGUMENT */
export function pathOf(...segments: readonly string[]): string {
  return ['/v1', ...segments.map(segmentOf)].join('/')
}

/**
 * An id as one segment of a path.
 *
 * @throws ERR_INVALID_ARGUMENT: no URL can hold it so. Dots are resolved even where they are
 * escaped, so `..` would name another route (WHATWG URL, double-dot URL path segment)
 */
export function segmentOf(id: string): string {
  if (/^\.{0,2}$|\p{Surrogate}/u.test(id)) throw invalid('client', 'id', 'cannot stand in a URL')
  return encodeURIComponent(id)
}

/** A query of what is given; lists are joined by commas. */
export function queryOf(values: object): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
