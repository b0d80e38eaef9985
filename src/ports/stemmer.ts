/** Brings the forms of a word together, for recall. */
export interface Stemmer {
  /** Names the algorithm and its version: stored terms are rebuilt when it changes. */
  readonly id: string
  /**
   * Contract: pure. Takes one word in lower case; a word that it does not know is given back as it
   * is.
   */
  stem(word: string): string
}
