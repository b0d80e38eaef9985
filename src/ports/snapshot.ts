/**
 * What has a snapshot and tells when it changes: a session of a memory, the widget's conversation,
 * its list of sessions.
 */
export interface SnapshotSource<Shown> {
  /** @returns what ends it */
  subscribe(listener: () => void): () => void
  /** Contract: the same object until something changes. */
  getSnapshot(): Shown
}
