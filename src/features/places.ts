/**
 * Where sections stand, in the order of the request. A feature may have several: skills stand on
 * both sides of facts. Numbers leave room for features of other makers.
 */
export const PLACES = {
  /** In the system section. */
  profile: 100,
  pins: 200,
  /** In the memory section; what stands for earlier messages follows all of them. */
  skills: 100,
  facts: 200,
  loadedSkills: 300,
  /**
   * In the tail: what came since the epoch began, then what shows in this call alone. What the app
   * gives follows.
   */
  news: 100,
  checkpoint: 200,
  recall: 300,
} as const
