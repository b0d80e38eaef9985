import type { Message } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import type { FactInput } from '../../ports/fact.ts'
import type { Remembered } from '../../ports/fact.ts'

/**
 * Contract: what remembering these would write; writes nothing itself. Where others write in between it is called again.
 *
 * @param messages what is written in the same commit, and so may be named as a source
 */
export type PrepareFacts = (
  operation: string,
  inputs: readonly FactInput[],
  messages: readonly Message[],
) => Promise<{ readonly ops: readonly Op[]; readonly remembered: readonly Remembered[] }>
