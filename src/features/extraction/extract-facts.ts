import { textOf } from '../../kernel/log/message.ts'
import type { FactInput, FactKind } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import { checkList } from '../../text/check-value.ts'
import { hashText } from '../../text/hash.ts'
import { codePoints } from '../text/code-points.ts'
import { sentences } from '../text/sentences.ts'
import type { Extract } from './extraction.ts'
import { isLeftOut, kindOf } from './rules/kind-of.ts'
import { folded } from './rules/rules.ts'
import { isAside, typedAmong } from './typed.ts'

/** An extractor by rules, which answers at once. */
export interface ExtractFacts {
  (rounds: readonly (readonly Message[])[]): readonly FactInput[]
  readonly typed: NonNullable<Extract['typed']>
}

/** What ids of extracted facts begin with. */
export const EXTRACT_ID = 'extract/'
/** Facts that one message yields at most. */
const MOST = 3
/** A longer sentence is left out rather than cut: its end may turn what it says. */
const LONGEST = 240
const CONFIDENCE = 0.8

const FENCE = /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|(?![\s\S]))/gmu
const QUOTED_LINE = /^[ \t]*>.*$/gmu
const LIST_MARK = /^(?:[-*•+]|\d+[.)])\s+/u
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx)\.$/iu

/** Says that something is wrong, and the next sentence what is right. */
const WRONG =
  /^(?:no[,.]?\s+)?(?:that['’]s|that is|this is|you['’]re|you are)\s+(?:wrong|incorrect|not (?:right|correct|true))[.!]*$/u

/**
 * Facts in what the user said, by rule: what must always or never be done, what is liked, what was
 * decided, what is to be remembered, what was corrected. For English, German, French, Spanish,
 * Italian, Portuguese, Japanese and Arabic; it would rather miss a fact than make one up. Of all
 * messages only those of role and trust `user` count, and of these no question, no quoted line or
 * code, nothing supposed or told of others.
 *
 * What stands in a message that says nothing else, and that by its shape its user typed, has trust
 * `user`; anything else may have been pasted, and has trust `import`.
 *
 * Pure: the same messages give the same facts under the same ids, so remembering them twice changes
 * nothing. They are never pinned.
 *
 * @param rounds messages by round, oldest first
 * @returns at most three facts a message, sentences of at most 240 code points
 */
export const extractFacts: ExtractFacts = /* @__PURE__ */ Object.assign(extracted, { typed: typedAmong })

function extracted(rounds: readonly (readonly Message[])[]): readonly FactInput[] {
  checkList('extractFacts', 'rounds', rounds)
  const messages = rounds.flat()
  // Most messages hold no fact, and who typed them is asked of those that do.
  let typed: ReadonlySet<string> | undefined
  const isTyped = (id: string): boolean => {
    typed ??= typedAmong(messages)
    return typed.has(id)
  }
  return messages.flatMap((message) => {
    if (message.role !== 'user' || message.trust !== 'user') return []
    const text = textOf(message).replaceAll('\r\n', '\n').replace(FENCE, '').replace(QUOTED_LINE, '')
    const said = joined(sentences(text))
    const found = new Map<string, FactKind>()
    for (const [kind, text] of factsIn(said)) if (!found.has(text)) found.set(text, kind)
    if (found.size === 0) return []
    const trust = isTyped(message.id) && saysNothingElse(said) ? 'user' : 'import'
    return [...found].slice(0, MOST).map(([text, kind], place) => ({
      id: `${EXTRACT_ID}${hashText(JSON.stringify([message.id, place]))}`,
      kind,
      text,
      pinned: false,
      confidence: CONFIDENCE,
      trust,
      sources: [message.id],
    }))
  })
}

function* factsIn(said: readonly string[]): Generator<readonly [FactKind, string]> {
  for (const [index, sentence] of said.entries()) {
    if (codePoints(sentence) > LONGEST) continue
    const kind = kindOf(sentence)
    if (kind !== undefined) yield [kind, sentence]
    const next = said[index + 1]
    if (next === undefined || !isWrong(sentence)) continue
    const text = `${sentence} ${next}`
    if (kindOf(next) === undefined && !isLeftOut(next) && codePoints(text) <= LONGEST)
      yield ['correction', text]
  }
}

/**
 * Whether all sentences are of the kind that is extracted, or what a person says beside them: what
 * leads to a text that was pasted is neither.
 */
function saysNothingElse(said: readonly string[]): boolean {
  return said.every((sentence, index) => {
    const isRight = isWrong(said[index - 1] ?? '') && !isLeftOut(sentence)
    return said.length === 1 || isRight || isWrong(sentence) || isAside(sentence) || kindOf(sentence)
  })
}

function isWrong(sentence: string): boolean {
  return WRONG.test(folded(sentence))
}

/** Sentences without the marks of a list, and whole where an abbreviation ended one. */
function joined(found: readonly string[]): readonly string[] {
  const whole: string[][] = []
  for (const sentence of found) {
    const before = whole.at(-1)
    if (before && ABBREVIATION.test(before.at(-1) ?? '')) before.push(sentence)
    else whole.push([sentence.replace(LIST_MARK, '')])
  }
  return whole.map((pieces) => pieces.join(' '))
}
