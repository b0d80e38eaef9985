import type { Message } from '../../../src/ports/message.ts'
import type { Name, OpResult, SealedOp } from '../../../src/ports/op.ts'
import type { IndexRow, LogRow, RegisterRow, Sum } from '../../../src/ports/store.ts'
import { isEntry } from '../../../src/ports/store.ts'

/**
 * What a scope holds after some ops, worked out the long way, one op after the other: everything is
 * found by reading the whole log again. Shares no code with the core.
 */
export class Reference {
  rows: LogRow[] = []
  registers: RegisterRow[] = []
  deleted = new Set<Name>()
  #refused: { opId: string; result: OpResult }[] = []
  #seq = 0

  take({ envelope, bodies, derived }: SealedOp): OpResult {
    const { opId, kind, ids, round, key, base = null, lane, mark, target, sources, index } = envelope
    const written = this.rows.find((row) => row.opId === opId)
    if (written)
      return { status: 'accepted', seq: written.seq, applied: written.applied ?? true, repeated: true }
    const refused = this.#refused.find((one) => one.opId === opId)
    if (refused) return { ...refused.result, repeated: true }

    const taken = ids.some(
      (id, at) => ids.indexOf(id) !== at || this.rows.some((row) => isEntry(row) && row.id === id),
    )
    const own: Name = kind === 'put' ? `register:${key}` : `entry:${ids[0]}`
    const dead = [own, ...(sources ?? [])].some((name) => this.deleted.has(name))
    switch (kind) {
      case 'append': {
        if (taken) return this.#refuse(opId, { status: 'rejected', reason: 'duplicate-id' })
        const opened = this.rows.some(
          (row) => row.kind === 'message' && row.id === round && row.round === round,
        )
        if (!opened && round !== ids[0])
          return this.#refuse(opId, { status: 'rejected', reason: 'unknown-round' })
        this.#seq++
        ids.forEach((id, place) => {
          const lost = this.deleted.has(`entry:${id}`)
          const column = derived?.[place]
          this.rows.push({
            seq: this.#seq,
            place,
            kind: 'message',
            id,
            opId,
            ordinal: this.#messages() + 1,
            round: round as string,
            body: lost ? null : (bodies[place] as string),
            ...(column !== undefined && !lost && { derived: column }),
          })
        })
        break
      }
      case 'mark': {
        if (taken) return this.#refuse(opId, { status: 'rejected', reason: 'duplicate-id' })
        const chain = this.rows.filter((row) => row.kind === mark && row.lane === lane && row.applied)
        const set = mark === 'rewind'
        const applied = set || (chain.at(-1)?.id ?? null) === base
        this.#seq++
        this.rows.push({
          ...this.#row(mark as 'rewind', ids[0] as string, opId),
          base,
          applied,
          ...(lane !== undefined && { lane }),
          ...(!set && applied && { chain: chain.length + 1 }),
          ...(sources && { sources }),
          body: dead ? null : (bodies[0] as string),
        })
        if (dead) this.deleted.add(own)
        break
      }
      case 'put': {
        if (this.deleted.has(own)) return this.#refuse(opId, { status: 'rejected', reason: 'deleted' })
        const version = this.registers.find((row) => row.key === key)?.version ?? null
        if (version !== base) return this.#refuse(opId, { status: 'conflict', version })
        this.#seq++
        this.rows.push(this.#row('put', key as string, opId))
        this.registers = this.registers.filter((row) => row.key !== key)
        const written = { key: key as string, version: opId, seq: this.#seq }
        if (dead) {
          this.deleted.add(own)
          this.registers.push({ ...written, body: null })
        } else
          this.registers.push({
            ...written,
            ...(sources && { sources }),
            ...(index && { index }),
            body: bodies[0] as string,
          })
        break
      }
      case 'delete':
        this.#seq++
        this.rows.push(this.#row('delete', target as string, opId))
        this.#delete(target as Name, opId)
        break
      case 'erase':
        this.#seq++
        this.rows = []
        this.rows.push(this.#row('erase', opId, opId))
        this.registers = []
        this.deleted.clear()
        this.#refused = []
    }
    return { status: 'accepted', seq: this.#seq, applied: this.rows.at(-1)?.applied ?? true }
  }

  /** Where the registers stand, each place once. */
  get places(): IndexRow[] {
    const all = this.registers.flatMap(({ key, index = [] }) =>
      index.flatMap(({ group, order }) => (order === undefined ? [] : { group, order, key })),
    )
    return all.filter(
      (one, at) =>
        at ===
        all.findIndex(
          ({ group, order, key }) => group === one.group && order === one.order && key === one.key,
        ),
    )
  }

  /** What the registers of each group come to. */
  get sums(): Map<string, Sum> {
    const weighed = this.registers.flatMap(({ index = [] }) =>
      index.flatMap(({ group, weight }) => (weight === undefined ? [] : { group, weight })),
    )
    return new Map(
      weighed.map(({ group }) => {
        const own = weighed.filter((one) => one.group === group)
        return [group, { count: own.length, weight: own.reduce((sum, { weight }) => sum + weight, 0) }]
      }),
    )
  }

  #row<Kind extends LogRow['kind']>(kind: Kind, id: string, opId: string): LogRow & { readonly kind: Kind } {
    return { seq: this.#seq, place: 0, kind, id, opId, ordinal: this.#messages(), body: null }
  }

  #messages(): number {
    return this.rows.filter(({ kind }) => kind === 'message').length
  }

  #refuse(opId: string, result: OpResult): OpResult {
    this.#refused.push({ opId, result })
    return result
  }

  #delete(name: Name, opId: string): void {
    const reached = new Set([name])
    const naming = [
      ...this.rows.map(({ id, sources = [] }) => ({ name: `entry:${id}` as Name, sources })),
      ...this.registers.map(({ key, sources = [] }) => ({ name: `register:${key}` as Name, sources })),
    ]
    for (let round = 0; round <= naming.length; round++)
      for (const one of naming) if (one.sources.some((source) => reached.has(source))) reached.add(one.name)
    for (const one of reached) this.deleted.add(one)
    this.rows = this.rows.map(({ derived, ...row }) =>
      isEntry(row) && reached.has(`entry:${row.id}`)
        ? { ...row, body: null }
        : { ...row, ...(derived !== undefined && { derived }) },
    )
    this.registers = this.registers.map((row) =>
      reached.has(`register:${row.key}`) ? { key: row.key, version: opId, seq: this.#seq, body: null } : row,
    )
  }
}

/** One message or step that shows: ids, and for each result that joined it `[row, part, call]`. */
export interface Shown {
  readonly id: string
  readonly round: string
  readonly calls: readonly boolean[]
  readonly results: readonly (readonly [row: string, part: number, call: number])[]
}

/** What a log shows, worked out the long way. Shares no code with the core. */
export function showReference(rows: readonly LogRow[]): Shown[] {
  const parse = <Value>(row: LogRow): Value | undefined =>
    row.body === null ? undefined : JSON.parse(row.body)
  const rewinds = rows.flatMap((row) =>
    row.kind === 'rewind' ? (parse<{ id: string; hides?: string[]; undo?: string }>(row) ?? []) : [],
  )
  const isHidden = (id: string): boolean =>
    rewinds.some((rewind) => rewind.hides?.includes(id) && !rewinds.some(({ undo }) => undo === rewind.id))
  const visible = rows.flatMap((row) => {
    const message = row.kind === 'message' && !isHidden(row.id) ? parse<Omit<Message, 'id'>>(row) : undefined
    if (!message) return []
    const parts = typeof message.content === 'string' ? [] : message.content
    return [{ row, role: message.role, parts, blank: isBlank(message.content) }]
  })
  const openers = rows.filter((row) => row.kind === 'message' && row.round === row.id)
  return openers.flatMap((opener) => {
    const own = visible.filter(({ row }) => row.round === opener.id && row.ordinal >= opener.ordinal)
    const joined: { step: string; call: number; row: string; part: number }[] = []
    for (const { row, role, parts } of own) {
      if (role !== 'tool') continue
      parts.forEach((result, part) => {
        if (result.type !== 'tool-result') return
        const open = own.flatMap((step) =>
          step.role === 'tool' || step.row.ordinal > row.ordinal
            ? []
            : step.parts.flatMap((call, index) =>
                call.type === 'tool-call' &&
                call.id === result.callId &&
                !joined.some((one) => one.step === step.row.id && one.call === index)
                  ? { step: step.row.id, call: index }
                  : [],
              ),
        )
        const newest = open.at(-1)?.step
        const found = open.find(({ step }) => step === newest)
        if (found) joined.push({ ...found, row: row.id, part })
      })
    }
    return own.flatMap(({ row, role, parts, blank }) => {
      if (role === 'tool' || (blank && role !== 'user')) return []
      const mine = joined.filter(({ step }) => step === row.id)
      const calls = parts.flatMap((part, index) =>
        part.type === 'tool-call' ? mine.some(({ call }) => call === index) : [],
      )
      return {
        id: row.id,
        round: opener.id,
        calls,
        results: mine.map((one) => [one.row, one.part, one.call] as const),
      }
    })
  })
}

/** The ids of what shows, in the order in which it shows. */
export function flatten(shown: readonly Shown[]): string[] {
  return shown.flatMap(({ id, results }) => [
    id,
    ...results.map(([row]) => row).filter((row, index, all) => all[index - 1] !== row),
  ])
}

function isBlank(content: Message['content']): boolean {
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const other =
    typeof content !== 'string' && content.some(({ type }) => !['text', 'reasoning'].includes(type))
  return !/\S/.test(text) && !other
}
