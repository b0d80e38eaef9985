/**
 * What a peer leaves out: the closed classes of English, and what is left of
 * contractions.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the this that these those some any each few more most other such no nor not only own same so than too very
  i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
  it its itself they them their theirs themselves
  am is are was were be been being have has had having do does did doing can could will would shall should may might must
  and but if or because as until while of at by for with about against between into through during before after above
  below to from up down in out on off over under again further then once here there
  when where why how what which who whom all both
  s t d ll m re ve don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn just now let`.split(
    /\s+/,
  ),
)
