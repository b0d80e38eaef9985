import { invalid } from './options.ts'

/** RFC 6838, section 4.2, with parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(;[ -~]{0,256})?$/

/** @throws ERR_INVALID_ARGUMENT */
export function checkMediaType(operation: string, value: unknown): string {
  if (typeof value === 'string' && MEDIA_TYPE.test(value)) return value
  throw invalid(operation, 'mediaType', 'must be like image/png')
}
