/**
 * Rows of random conversations, and what to cut them back to. They are the same for the same seed,
 * for good.
 */
import type { CutTask } from '../../../src/kernel/context/cut.ts'
import { sealMessage } from '../../../src/kernel/log/message.ts'
import type { Policy } from '../../../src/kernel/policy.ts'
import type { Message, Part } from '../../../src/ports/message.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import { Random } from '../../oracle/generate/random.ts'

export interface Case {
  readonly rows: readonly LogRow[]
  readonly policy: Policy
  task(units: number): CutTask
}

export function caseOf(seed: number): Case {
  const random = new Random(seed)
  const rows = rowsOf(random)
  const policy = policyOf(random)
  const task = (units: number): CutTask => {
    const room = random.sized(20, 3_000)
    const { rounds, messages } = policy.keep
    return {
      start: random.chance(0.7) ? 0 : random.whole(0, units),
      oldBefore: random.chance(0.7) ? -1 : random.whole(0, Math.max(0, units - 1)),
      room,
      keep: random.chance(0.5) ? room : random.whole(10, room),
      limits: { ...(rounds !== undefined && { rounds }), ...(messages !== undefined && { messages }) },
      ...(random.chance(0.3) && { mayFold: true }),
    }
  }
  return { rows, policy, task }
}

function policyOf(random: Random): Policy {
  const count = (text: string): number => Math.ceil(text.length / 4)
  const first = random.sized(20, 800)
  const size = { [random.pick(['rounds', 'messages', 'tokens'])]: random.whole(1, 9) }
  const isSliding = random.chance(0.3)
  const max = random.chance(0.5) || isSliding ? size : {}
  return {
    lane: 'main',
    counter: { id: 'quarter', kind: 'exact', count },
    cap: 4_000,
    reserved: 0,
    margin: 0,
    first,
    old: random.whole(0, first),
    protect: random.sized(10, 1_000),
    max,
    keep: isSliding
      ? size
      : random.chance(0.5)
        ? { [random.pick(['rounds', 'messages'])]: random.whole(1, 5) }
        : {},
    ...(isSliding && { sliding: true as const }),
  }
}

function rowsOf(random: Random): readonly LogRow[] {
  const rows: LogRow[] = []
  let ids = 0
  const append = (round: string | undefined, role: Message['role'], content: Message['content']): string => {
    const id = `m${++ids}`
    const message: Message = { id, role, content, createdAt: 0, trust: role }
    const seq = rows.length + 1
    const body = random.chance(0.03) ? null : sealMessage(message)
    rows.push({ seq, place: 0, kind: 'message', id, opId: id, ordinal: ids, round: round ?? id, body })
    return id
  }
  const words = (most: number): string => 'word '.repeat(random.sized(1, most)).trim()
  const output = (): string | readonly string[] =>
    random.chance(0.3) ? Array.from({ length: random.whole(1, 40) }, () => words(10)) : words(1_200)
  const results = (ids: readonly string[]): Part[] =>
    ids.map((callId) => ({
      type: 'tool-result',
      callId,
      output: output(),
      ...(random.chance(0.2) && { isError: true }),
    }))
  /** Calls that nobody answered yet, with their rounds. */
  const late: { readonly round: string; readonly id: string }[] = []
  let calls = 0
  for (let rounds = random.whole(1, 6); rounds > 0; rounds--) {
    const question = random.chance(0.05) ? ' ' : words(150)
    const round = append(undefined, random.chance(0.9) ? 'user' : 'assistant', question)
    for (let steps = random.whole(0, 4); steps > 0; steps--) {
      // Ids of calls are used again, as models do.
      const asked = Array.from(
        { length: random.whole(0, 3) },
        () => `call-${random.chance(0.1) ? 1 : ++calls}`,
      )
      const thought = random.chance(0.3)
        ? [
            {
              type: 'reasoning' as const,
              text: words(40),
              ...(random.chance(0.5) && { signature: 'signed' }),
            },
          ]
        : []
      const said = random.chance(0.7) ? [{ type: 'text' as const, text: words(60) }] : []
      const made = asked.map((id) => ({
        type: 'tool-call' as const,
        id,
        name: 'find',
        input: { about: words(5) },
      }))
      append(round, 'assistant', [...thought, ...said, ...made])
      const answered = asked.filter(() => random.chance(0.85))
      for (const id of asked) if (!answered.includes(id)) late.push({ round, id })
      if (answered.length > 1 && random.chance(0.4)) append(round, 'tool', results(answered))
      else for (const id of answered) append(round, 'tool', results([id]))
      if (random.chance(0.05)) append(round, 'tool', results(['nobody']))
    }
    const missed = random.chance(0.3) ? late.pop() : undefined
    if (missed) append(missed.round, 'tool', results([missed.id]))
    if (random.chance(0.1)) {
      const hides = rows.slice(-random.whole(1, 4)).flatMap(({ kind, id }) => (kind === 'message' ? id : []))
      const id = `rewind-${rows.length}`
      const body = JSON.stringify({ type: 'rewind', id, hides })
      rows.push({ seq: rows.length + 1, place: 0, kind: 'rewind', id, opId: id, ordinal: ids, body })
    }
  }
  return rows
}
