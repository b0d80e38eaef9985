import { plimsoll } from '../replay/plimsoll.ts'
import type { Choice, Refusal, Settings } from '../replay/policy.ts'
import { tailText } from '../replay/tail.ts'
import type { Conversation } from '../replay/transcript.ts'
import { turnsOf } from '../replay/turns.ts'
import { UsageError } from './arguments.ts'

/**
 * What Plimsoll gives these calls of a conversation, as `replay` does: after all calls before them,
 * so that each is in the epoch in which `replay` has it. `calls` grow. Throws {@link UsageError}
 * for a call that is not there, before any work is done.
 */
export async function choicesAt<Calls extends readonly number[]>(
  conversation: Conversation,
  settings: Settings & { readonly tail: number },
  calls: Calls,
): Promise<{ readonly [Place in keyof Calls]: Choice | Refusal }> {
  const last = Math.max(...calls)
  const there = [...turnsOf(conversation)].filter(({ call }) => call !== undefined).length
  if (last >= there) {
    const range = there === 0 ? 'no model calls' : `model calls 0 to ${there - 1}`
    throw new UsageError(`no call ${last} in conversation "${conversation.id}", which has ${range}`)
  }
  const chooser = plimsoll(conversation, settings)
  const choices: (Choice | Refusal)[] = []
  for (const { message, call } of turnsOf(conversation)) {
    if (call !== undefined) {
      const choice = await chooser.choose(tailText(settings.counter, settings.tail, call))
      if (calls.includes(call)) choices.push(choice)
    }
    if (call === last) break
    await chooser.append(message)
  }
  return choices as { readonly [Place in keyof Calls]: Choice | Refusal }
}
