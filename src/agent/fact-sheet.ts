import { codePoints } from '../features/text/code-points.ts'
import { oneLine } from '../features/text/one-line.ts'
import { titled } from '../features/text/titled.ts'
import type { Context } from '../ports/context.ts'
import type { Trust } from '../ports/message.ts'
import { checkOptions, checkText, invalid } from '../text/json.ts'
import type { AgentSession } from './agent-session.ts'
import type { Middleware } from './middleware.ts'

export interface SheetFact {
  readonly title: string
  readonly text: string
  /** Shown with the fact: the model should know whom it has it from. */
  readonly trust: Trust
}

export interface FactSheetOptions {
  /**
   * Contract: what is known now, the most important first; an empty list for nothing. Asked before
   * each model call.
   */
  readonly facts: (about: {
    readonly session?: AgentSession
  }) => readonly SheetFact[] | Promise<readonly SheetFact[]>
  /** Code points of the facts that are shown; above 0. Default 4 000, about 1 000 tokens. */
  readonly maxCharacters?: number
}

const MAX_CHARACTERS = 4_000

/**
 * Shows facts in the tail of each request, as the section `facts`: in their order, as many as fit,
 * and how many did not. It stops at the first that does not fit. Each shows once: what the memory
 * of the session shows by itself is left out, so its own facts may be given too. Order 20; fails
 * open. Without options it does nothing.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function factSheet(options?: FactSheetOptions): Middleware {
  if (options !== undefined) checkOptions('factSheet', 'options', options, ['facts', 'maxCharacters'])
  const most = options?.maxCharacters ?? MAX_CHARACTERS
  if (!(most > 0)) throw invalid('factSheet', 'maxCharacters', 'must be above 0')
  return {
    name: 'fact-sheet',
    order: 20,
    kind: 'enricher',
    start: () => {
      if (!options) return {}
      return {
        beforeModelCall: async ({ session, preview }) => {
          const known = await options.facts({ ...(session && { session }) })
          const shown = known.length > 0 && preview ? linesIn(await preview()) : new Set<string>()
          const facts = known.filter((fact) => isFirst(fact, shown))
          return facts.length > 0 ? { tail: [{ name: 'facts', text: sheet(facts, most) }] } : undefined
        },
      }
    },
  }
}

/** How a memory shows a fact: reference, kind and trust, of which a pin has the kind alone. */
const FACT = /^- (?:\[f\d+[^\]]*\] )?\w+(?: \[[^\]]*\])?:? (.*)$/

/** What the facts say that a context shows by itself. */
function linesIn({ blocks }: Context): Set<string> {
  const texts = blocks
    .filter(({ section }) => section !== 'window')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text.split('\n') : [])))
  return new Set(texts.flatMap((line) => FACT.exec(line)?.[1] ?? []))
}

/** Whether nothing says the same yet. @param shown is added to */
function isFirst({ title, text }: SheetFact, shown: Set<string>): boolean {
  const said = oneLine(checkText('factSheet', 'text', text))
  const isShown = shown.has(said) || shown.has(`${oneLine(checkText('factSheet', 'title', title))}: ${said}`)
  shown.add(said)
  return !isShown
}

function sheet(facts: readonly SheetFact[], most: number): string {
  const lines: string[] = []
  let characters = 0
  for (const { title, text, trust } of facts) {
    const named = oneLine(checkText('factSheet', 'title', title))
    const line = `- [${trust}] ${titled(named, checkText('factSheet', 'text', text))}`
    characters += codePoints(line)
    if (characters > most) break
    lines.push(line)
  }
  const left = facts.length - lines.length
  if (left > 0) lines.push(`(${left} more did not fit)`)
  return lines.join('\n')
}
