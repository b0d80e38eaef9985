/** Names of this very machine, as the host of a URL has them. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/**
 * Whether a URL's host is this very machine, by one of the three names that nobody else can have.
 */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.has(hostname)
}

const HOST = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?$/i

/** The same of a header `Host`. */
export function isLoopbackHost(host: string): boolean {
  return HOST.test(host)
}
