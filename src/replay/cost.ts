import { READ, WRITE } from '../features/compaction/price.ts'

/** Of a request of that many `tokens`, the first `hit` of which repeat the previous request. */
export function costOf(tokens: number, hit: number): number {
  return READ * hit + WRITE * (tokens - hit)
}
