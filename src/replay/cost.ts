/**
 * What a cached and a fresh input token cost, as shares of an uncached one (Anthropic's five-minute
 * cache).
 */
export const READ = 0.1
export const WRITE = 1.25

/** Of a request of that many `tokens`, the first `hit` of which repeat the previous request. */
export function costOf(tokens: number, hit: number): number {
  return READ * hit + WRITE * (tokens - hit)
}
