import { type DiffTokens, diffContexts } from '../render/diff.ts'
import { explain } from '../render/explain.ts'
import { diffRequests } from '../replay/request-diff.ts'
import type { RequestLine } from '../replay/request-line.ts'
import type { DiffOptions, Pair } from './arguments.ts'
import { buildCalls } from './built.ts'
import { type Difference, differenceJson, differenceText } from './difference.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'
import { holdsRequests, requestsInLines, requestsOfCalls } from './request-file.ts'

/**
 * Prints where a request parts from an earlier one, why, and what that costs. Resolves to the exit
 * status: 1 if a call is refused, or a line could not be read.
 */
export async function diffCommand(options: DiffOptions, io: Io): Promise<number> {
  const { file, at } = options
  await readable([file], io)
  if ('lines' in at) {
    const requests = await requestsInLines(file, at.lines, io)
    print(compared(requests, at), options, io)
    return 0
  }
  if (!(await holdsRequests(file, io))) return diffCalls(options, at.calls, io)
  const { conversation, requests, malformed } = await requestsOfCalls(options, at.calls, io)
  print(compared(requests, { conversation, calls: at.calls }), options, io)
  return malformed > 0 ? 1 : 0
}

async function diffCalls(options: DiffOptions, calls: Pair, io: Io): Promise<number> {
  const built = await buildCalls(options, calls, io)
  if (!built) return 1
  const { conversation, provider, choices, malformed } = built
  const [one, other] = choices
  const textOf = ({ context }: typeof one): string => explain(context, provider, { cache: false }).text
  const { tokens, ...parting } = diffContexts(one.context, other.context, provider)
  const difference: Difference = {
    where: { conversation, calls },
    ...parting,
    ...(one.epoch && other.epoch && { epochs: [one.epoch, other.epoch] }),
    paid: { tokens },
    texts: [textOf(one), textOf(other)],
  }
  print(difference, options, io)
  return malformed ? 1 : 0
}

function compared([one, other]: readonly [RequestLine, RequestLine], where: Difference['where']): Difference {
  const { cause, bytes, ...difference } = diffRequests(one.request, other.request)
  // Epochs of different conversations have nothing to do with each other.
  const epochs = one.conversation === other.conversation &&
    one.epoch &&
    other.epoch && { epochs: [one.epoch, other.epoch] as const }
  const changed = epochs && one.epoch.id !== other.epoch.id
  const { provider = one.provider, used } = other
  return {
    where,
    ...(provider && { provider }),
    cause: cause !== 'none' && changed ? other.epoch.cause : cause,
    ...epochs,
    ...difference,
    paid: { bytes, ...(used !== undefined && { tokens: tokensOf(bytes, used) }) },
  }
}

/** The tokens of a request, split as its bytes are; whole ones, so that their sum stays. */
function tokensOf({ shared, rebilled, added }: DiffTokens, used: number): DiffTokens {
  const all = shared + rebilled + added
  const first = Math.round((shared / all) * used)
  const second = Math.round(((shared + rebilled) / all) * used)
  return { shared: first, rebilled: second - first, added: used - second }
}

function print(difference: Difference, { json }: DiffOptions, io: Io): void {
  io.out(json ? differenceJson(difference) : differenceText(difference, io.columns.out))
}
