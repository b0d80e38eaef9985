/** What the platform supplies, so that the core holds neither clock nor randomness. */
export interface Host {
  /** Contract: Unix milliseconds. Never used for order. */
  now(): number
  /** Contract: a fresh id, unique for ever, for example a UUIDv7; at most 256 bytes. */
  newId(): string
}
