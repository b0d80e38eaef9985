import { typedAmong } from '../../features/extraction/typed.ts'
import { typedTrust } from '../../features/extraction/typed-trust.ts'
import { areNear } from '../../features/facts/near-duplicates.ts'
import { RECALLED } from '../../features/recall/recall-text.ts'
import { putSecret } from '../../kernel/context/secret.ts'
import { asText } from '../../kernel/count.ts'
import type { KernelSession } from '../../kernel/feature.ts'
import { decide } from '../../kernel/log/decide.ts'
import { lowerTrust, partsOf } from '../../kernel/log/message.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import type { Json, Message, Trust } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { hashText } from '../../text/hash.ts'
import type { ToolSession } from '../agent-session.ts'
import { SKILL } from './skill-text.ts'

/** Rounds in which to look for a call that is not in the newest one. */
const LOOK_BACK = 4
/** Messages before a round that may lead to what the user pasted in it. */
const LED_BY = 4
/**
 * Most messages that a fact names as its sources, and the bytes of JSON that they may take of it.
 */
const MOST_SOURCES = 16
const SOURCE_BYTES = 768
/** Facts that are looked through for one that says the same. */
const COMPARED = 512
/** Digits of a fact's id: short, since the model reads and repeats it. */
const ID_DIGITS = 16

/** Where a fact of the model's comes from. */
export interface Origin {
  /** The same for the same call, in whatever process. */
  readonly id: string
  readonly opId: string
  /**
   * At most `assistant`, and the lowest of all that was read in the round, and of facts that say
   * the same. What the user may have pasted counts as `import`.
   */
  readonly trust: Trust
  /** The message that opened the round, and its newest ones. */
  readonly sources: readonly string[]
}

/**
 * Where a call comes from: the round that holds it, else the newest one. Reads that round whole,
 * for a label must fall with any message in it.
 */
export async function originOf(
  session: ToolSession,
  call: { readonly name: string; readonly callId: string; readonly input: Json; readonly text: string },
): Promise<Origin> {
  const { name, callId, input, text } = call
  const { round, entry } = await roundOf(session, callId)
  // Models and recordings use ids of calls again, so the entry and what was asked are part of the
  // name.
  const key = await storedKey(kernelOf('memory', session))
  const asked = [session.sessionId, entry ?? round[0]?.id ?? '', callId, name, input]
  const hash = hashText(JSON.stringify(asked), key)
  const trusts = await trustsOf(session, round)
  const said = trusts.reduce<Trust>(lowerTrust, 'assistant')
  return {
    id: `m-${hash.slice(0, ID_DIGITS)}`,
    opId: `memory-tool/${hash}`,
    trust: await lowestSaying(session, text, said),
    sources: sourcesIn(round),
  }
}

async function roundOf(
  session: ToolSession,
  callId: string,
): Promise<{ readonly round: readonly Message[]; readonly entry?: string }> {
  const newest = await session.history({ rounds: 1 })
  const entry = callerIn(newest, callId)
  if (entry) return { round: newest, entry: entry.id }
  // A call that waited, for an approval perhaps, while the conversation went on.
  const recent = await session.history({ rounds: LOOK_BACK })
  const caller = callerIn(recent, callId)
  if (!caller) return { round: newest }
  const opener = recent.findLastIndex(({ role }, index) => role === 'user' && index < recent.indexOf(caller))
  return { round: recent.slice(Math.max(0, opener)), entry: caller.id }
}

function callerIn(messages: readonly Message[], callId: string): Message | undefined {
  return messages.findLast((message) =>
    partsOf(message).some((part) => part.type === 'tool-call' && part.id === callId),
  )
}

/**
 * The messages' labels; what the user may have pasted, or somebody led to before, counts as
 * imported.
 */
async function trustsOf(session: ToolSession, round: readonly Message[]): Promise<readonly Trust[]> {
  const [opener] = round
  const isStatement = opener && typedAmong(round).has(opener.id)
  const before = isStatement ? await session.history({ before: opener.id, messages: LED_BY }) : []
  const typed = typedAmong([...before, ...round])
  return round.map((message) => lowerTrust(trustOf(message), typedTrust(message, typed)))
}

/** A message's label; of what was recalled the lowest one, no matter who recorded it. */
function trustOf(message: Message): Trust {
  const isRecalled = partsOf(message).some((part) => {
    if (part.type !== 'tool-result') return false
    const output = asText(part.output)
    return output.startsWith(RECALLED) && !output.startsWith(SKILL)
  })
  return isRecalled ? 'web' : message.trust
}

/**
 * To say again what is remembered raises no label: the lowest of a trust and of the facts below
 * `user` that say the same.
 */
async function lowestSaying(session: ToolSession, text: string, trust: Trust): Promise<Trust> {
  const facts = await session.facts.list({ first: COMPARED })
  return facts
    .filter((fact) => lowerTrust(fact.trust, trust) !== trust && areNear(fact.text, text))
    .reduce<Trust>((low, fact) => lowerTrust(low, fact.trust), trust)
}

function sourcesIn(round: readonly Message[]): readonly string[] {
  const [opener, ...others] = round
  const sources: string[] = []
  let bytes = 0
  for (const { id } of opener ? [opener, ...others.reverse()] : []) {
    bytes += utf8Length(JSON.stringify(id)) + 1
    if (sources.length === MOST_SOURCES || bytes > SOURCE_BYTES) break
    sources.push(id)
  }
  return sources
}

/** The key of a session's hashes that are to be the same in every process: it is stored by then. */
async function storedKey({ store, memory, secret }: KernelSession): Promise<string> {
  await secret.refresh(store, true)
  if (secret.since === Infinity) {
    await store.commit([putSecret(memory.host.newId(), secret.key)], decide)
    // Another writer may have been first.
    await secret.refresh(store, true)
  }
  return secret.key
}
