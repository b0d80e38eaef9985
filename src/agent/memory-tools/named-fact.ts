import { referenceOf } from '../../features/reference.ts'
import { oneLine } from '../../features/text/one-line.ts'
import type { Fact } from '../../ports/fact.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import type { ToolSession } from '../agent-session.ts'
import { telling } from './telling.ts'

/** Facts that are looked through, and how many pages of them. */
const PAGE = 512
const MOST_PAGES = 16
const MOST_ID_BYTES = 200
/** As it is asked for, or as a context has it: `f123456`, `[f123456 · open]`. */
const REFERENCE = /^\[?(f\d{6})(?: · \w+)?\]?$/

/**
 * The fact that a model means, by its reference, by its exact text, or by its id. One that holds
 * comes before those that hold no more.
 *
 * @throws what the model is to do instead: nothing is called that, or several are
 */
export async function namedFact(session: ToolSession, name: string): Promise<Fact> {
  const known = utf8Length(name) <= MOST_ID_BYTES && (await telling(session.facts.get(name)))
  if (known) return known
  const all = await namesakes(session, name.trim())
  const live = all.filter(({ supersededBy, status }) => supersededBy === undefined && status !== 'resolved')
  const [fact, other] = live.length > 0 ? live : all
  if (!fact)
    throw new Error(
      `nothing was done: no fact ${name}. Use only references and texts that the context or a memory tool gave.`,
    )
  if (!other) return fact
  const isText = !REFERENCE.test(name.trim())
  const instead = isText ? [fact, other].map(({ id }) => referenceOf(id)).join(' or ') : 'its exact text'
  throw new Error(`nothing was done: several facts are ${name}. Give ${instead}.`)
}

async function namesakes(session: ToolSession, name: string): Promise<readonly Fact[]> {
  const reference = REFERENCE.exec(name)?.[1]
  const text = oneLine(name)
  const found: Fact[] = []
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const facts = await telling(
      session.facts.list({ all: true, first: PAGE, ...(after !== undefined && { after }) }),
    )
    found.push(
      ...facts.filter((fact) =>
        reference === undefined ? oneLine(fact.text) === text : referenceOf(fact.id) === reference,
      ),
    )
    after = facts.at(-1)?.id
    if (after === undefined) break
  }
  return found
}
