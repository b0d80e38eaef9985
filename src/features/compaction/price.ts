/**
 * What a token costs, as a share of an uncached one of the input: read from the provider's cache,
 * written to it, and of the output. Anthropic's, with its five-minute cache.
 */
export const READ = 0.1
export const WRITE = 1.25
export const OUTPUT = 5
