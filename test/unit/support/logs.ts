import fc from 'fast-check'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Message, Part, Role } from '../../../src/ports/message.ts'
import type { Op } from '../../../src/ports/op.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import { Home } from './home.ts'

/** One message of a log, without what places it: names are taken modulo what is there. */
interface Draft {
  readonly kind: 'user' | 'assistant' | 'tool' | 'blank' | 'rewind' | 'undo' | 'forget'
  /** 0: the newest round; else one of the others. */
  readonly round: number
  /** Ids of its calls or results. */
  readonly calls: readonly number[]
  readonly at: number
  /** Whether it is written by the op that wrote the message before it. */
  readonly joined: boolean
}

const WEIGHTS = { user: 3, assistant: 7, tool: 9, blank: 1, rewind: 1, undo: 1, forget: 1 } as const

type Kind = keyof typeof WEIGHTS

/**
 * Logs of any shape: rounds that interleave, parallel calls, call ids used again in one step or in
 * several, late, missing, double and orphan results, several results in a message, empty texts; and
 * what hides: rewinds, undos, deletes.
 */
export function logs(without: readonly Kind[] = []): fc.Arbitrary<readonly LogRow[]> {
  const kinds = (Object.keys(WEIGHTS) as Kind[]).filter((kind) => !without.includes(kind))
  const draft: fc.Arbitrary<Draft> = fc.record({
    kind: fc.oneof(...kinds.map((kind) => ({ weight: WEIGHTS[kind], arbitrary: fc.constant(kind) }))),
    round: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) }),
    calls: fc.array(fc.nat(2), { maxLength: 3 }),
    at: fc.nat(99),
    joined: fc.boolean(),
  })
  return fc.array(draft, { maxLength: 40, size: 'max' }).map(logOf)
}

function logOf(drafts: readonly Draft[]): readonly LogRow[] {
  const rounds: string[] = []
  const ids: string[] = []
  const rewinds: string[] = []
  const ops: Op[] = []
  for (const { kind, round, calls, at, joined } of drafts) {
    const id = `${kind.charAt(0)}${ids.length + rewinds.length + ops.length}`
    if (kind === 'rewind') {
      const from = at % Math.max(1, ids.length)
      const hides = calls.length > 1 ? ids.slice(from) : ids.filter((_, index) => index % 4 === at % 4)
      rewinds.push(id)
      ops.push({ kind: 'mark', opId: id, base: null, entry: { type: 'rewind', id, hides } })
    } else if (kind === 'undo') {
      const undo = rewinds[at % Math.max(1, rewinds.length)]
      if (undo === undefined) continue
      ops.push({ kind: 'mark', opId: id, base: null, entry: { type: 'rewind', id, undo } })
      rewinds.push(id)
    } else if (kind === 'forget') {
      ops.push({ kind: 'delete', opId: id, target: `entry:${ids[at % Math.max(1, ids.length)] ?? 'nobody'}` })
    } else {
      const own =
        kind === 'user' || rounds.length === 0 ? id : (rounds.at(-1 - (round % rounds.length)) as string)
      if (own === id) rounds.push(id)
      ids.push(id)
      const message = messageOf(id, kind, calls, at)
      const last = ops.at(-1)
      if (joined && last?.kind === 'append' && last.round === own)
        ops.splice(-1, 1, { ...last, messages: [...last.messages, message] })
      else ops.push({ kind: 'append', opId: id, round: own, messages: [message] })
    }
  }
  const home = new Home(decide)
  for (const op of ops) home.commit([sealOp(op)])
  return home.rows
}

function messageOf(
  id: string,
  kind: Exclude<Kind, 'rewind' | 'undo' | 'forget'>,
  ids: readonly number[],
  at: number,
): Message {
  const own = { id, createdAt: 0 }
  const role: Role = kind === 'blank' ? (at % 3 === 0 ? 'user' : 'assistant') : kind
  if (kind === 'blank') {
    const text = at % 2 === 0 ? '' : ' \n'
    const content = at % 5 === 0 ? text : [{ type: 'text' as const, text }]
    return { ...own, role, trust: role, content }
  }
  if (role === 'user') return { ...own, role, trust: role, content: `hello from ${id}` }
  const parts = ids.map((call): Part => {
    const callId = `c${call}`
    if (role === 'tool') return { type: 'tool-result', callId, output: id }
    return { type: 'tool-call', id: callId, name: 'add', input: {} }
  })
  if (role === 'tool') return { ...own, role, trust: role, content: parts.length > 0 ? parts : [result(id)] }
  return { ...own, role, trust: role, content: at % 3 === 0 ? parts : [{ type: 'text', text: id }, ...parts] }
}

function result(id: string): Part {
  return { type: 'tool-result', callId: 'c0', output: id }
}
