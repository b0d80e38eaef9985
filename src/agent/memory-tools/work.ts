/** What the memory tools do; loaded with the first call of one. */
import { RECALL_TOOL, RECALLED } from '../../features/recall/recall-text.ts'
import { referenceOf } from '../../features/reference.ts'
import { isTrusted } from '../../features/trust.ts'
import { forget } from '../../operations/forget/forget.ts'
import { readSource } from '../../operations/source.ts'
import type { Fact, FactKind } from '../../ports/fact.ts'
import type { StandardResult } from '../../ports/standard-schema.ts'
import type { ToolSession } from '../agent-session.ts'
import { validatorOf } from '../validator.ts'
import type { CalledName, MemoryTool } from './memory-tool.ts'
import { namedFact } from './named-fact.ts'
import { originOf } from './origin.ts'
import { SKILL } from './skill-text.ts'
import { telling } from './telling.ts'

interface FactArguments {
  readonly text: string
  readonly confidence?: number
  readonly supersedes?: string
}

/**
 * Contract: what the model is to read. It may be called again for the same call, and then writes
 * nothing more.
 *
 * @param input fits the schema
 * @throws what the model is to read as an error
 */
type Work<Input> = (session: ToolSession, input: Input, callId: string) => Promise<string>

const WORK = {
  memory_finding: remembering('finding'),
  memory_correction: remembering('correction'),
  memory_preference: remembering('preference'),
  memory_constraint: remembering('constraint'),
  async memory_blocker(
    session: ToolSession,
    { text, resolve }: { readonly text?: string; readonly resolve?: string },
    callId: string,
  ): Promise<string> {
    if ((text === undefined) === (resolve === undefined))
      throw new Error('nothing was done: give either `text` or `resolve`.')
    if (text !== undefined) return remembering('blocker')(session, { text }, callId)
    const { id } = await ownFact(session, resolve as string, 'say that it is out of the way')
    await telling(session.facts.resolve(id))
    return `Resolved: ${referenceOf(id)}.`
  },
  async memory_forget(session: ToolSession, { fact }: { readonly fact: string }): Promise<string> {
    const { id } = await ownFact(session, fact, 'remove it')
    await telling(forget(session, id, { kind: 'fact' }))
    return `Forgotten: ${referenceOf(id)}.`
  },
  [RECALL_TOOL]: async (
    session: ToolSession,
    { query, ...asked }: { readonly query: string; readonly first?: number },
  ): Promise<string> => (await telling(session.recall.page(query, asked))).text,
  async memory_read_source(
    session: ToolSession,
    { reference, offset = 0 }: { readonly reference: string; readonly offset?: number },
  ): Promise<string> {
    const { text, total, next } = await telling(readSource(session, reference, { offset }))
    const from = `${RECALLED}: ${reference}, characters ${offset} to ${offset + text.length} of ${total}`
    return `${next === undefined ? from : `${from}; go on with offset ${next}`}]\n${text}`
  },
  async skill_load(session: ToolSession, { name }: { readonly name: string }): Promise<string> {
    const { text } = await telling(session.skills.load(name))
    return `${SKILL}${name}]\n${text}`
  },
  async skill_unload(session: ToolSession, { name }: { readonly name: string }): Promise<string> {
    await telling(session.skills.unload(name))
    return `Unloaded: ${name}.`
  },
} satisfies { readonly [name in CalledName]: Work<never> }

/** Checks the arguments of a call against all limits. */
export function check({ inputSchema }: MemoryTool, input: unknown): StandardResult<unknown> {
  return validatorOf('inputSchema', inputSchema)(input)
}

/** Runs one call. @param input fits the schema. @throws what the model is to read as an error */
export function run(session: ToolSession, name: CalledName, input: unknown, callId: string): Promise<string> {
  const work: Work<never> = WORK[name]
  return work(session, input as never, callId)
}

/**
 * What a model remembers has the label of what it was taken from, so it stays in its session, and
 * nothing pins it.
 */
function remembering(kind: FactKind): Work<FactArguments> {
  return async (session, input, callId) => {
    const { text, confidence, supersedes } = input
    const { opId, ...origin } = await originOf(session, {
      name: `memory_${kind}`,
      callId,
      input: { ...input },
      text,
    })
    const given = {
      text,
      ...(confidence !== undefined && { confidence }),
      ...(supersedes !== undefined && { supersedes: (await namedFact(session, supersedes)).id }),
    }
    const { fact, status } = await telling(session.facts.remember({ ...given, ...origin, kind }, { opId }))
    const done = { new: 'Remembered', merged: 'Added to what was remembered', known: 'Remembered before' }
    return `${done[status]}: ${fact.kind} ${referenceOf(fact.id)}, trust ${fact.trust}.`
  }
}

/**
 * A fact that a model may change: nobody less trusted may touch what the user said. @throws what
 * the model is to do instead
 */
async function ownFact(session: ToolSession, name: string, change: string): Promise<Fact> {
  const fact = await namedFact(session, name)
  if (isTrusted(fact.trust))
    throw new Error(
      `nothing was done: ${referenceOf(fact.id)} is the user's own word. Ask the user to ${change}.`,
    )
  return fact
}
