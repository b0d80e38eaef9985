/** Makes vectors of texts, by which recall finds what shares no word with a query. */
export interface Embedder {
  /**
   * Names the model, and what else its vectors depend on (their length): stored vectors are made
   * again when it changes.
   */
  readonly id: string
  /**
   * Contract: one vector for each text, in their order, all of one length of 1 to 4 096 finite
   * numbers. It is given at most 64 texts of at most 320 UTF-16 units, none of them empty, or one
   * query.
   *
   * @param use many models want to know what a text is for
   */
  embed(texts: readonly string[], use: 'passage' | 'query'): Promise<readonly ArrayLike<number>[]>
}
