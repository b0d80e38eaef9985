import type { SealedOp } from '../../../src/ports/op.ts'
import type { LogRow, RegisterRow, Store } from '../../../src/ports/store.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

/**
 * A store that seals the bodies of the ops that are committed, each for what it is, and opens those
 * of the rows that are read: as one that encrypts does. It throws where a row holds what was never
 * sealed, or was sealed for something else.
 */
export function sealingStore(store: Store): Store {
  return changedStore(store, (inner) => ({
    commit: (ops, decide) => inner.commit(ops.map(sealed), decide),
    entries: async (query) => {
      const { rows, more } = await inner.entries(query)
      return { rows: rows.map(openedRow), more }
    },
    changesSince: async (seq) => {
      const changes = await inner.changesSince(seq)
      return { ...changes, rows: changes.rows.map(openedRow) }
    },
    register: async (key) => {
      const row = await inner.register(key)
      return row && openedRegister(row)
    },
    registers: async (prefix, after) => (await inner.registers(prefix, after)).map(openedRegister),
    indexed: async (group, query) => (await inner.indexed(group, query)).map(openedRegister),
  }))
}

function sealed({ envelope, bodies, derived }: SealedOp): SealedOp {
  const { kind, ids, mark } = envelope
  const what = kind === 'append' ? 'message' : (mark ?? kind)
  const seal = (text: string, place: number): string => `${what}/${ids[place]}:${reversed(text)}`
  return {
    envelope,
    bodies: bodies.map((body, place) => (body === null ? null : seal(body, place))),
    ...(derived && {
      derived: derived.map((text, place) => (text === undefined ? text : seal(text, place))),
    }),
  }
}

function openedRow(row: LogRow): LogRow {
  const open = (text: string): string => opened(`${row.kind}/${row.id}:`, text)
  return {
    ...row,
    body: row.body === null ? null : open(row.body),
    ...(row.derived !== undefined && { derived: open(row.derived) }),
  }
}

function openedRegister(row: RegisterRow): RegisterRow {
  return { ...row, body: row.body === null ? null : opened(`put/${row.key}:`, row.body) }
}

function opened(name: string, text: string): string {
  if (!text.startsWith(name)) throw new Error(`${text.slice(0, 40)} was not sealed as ${name}`)
  return reversed(text.slice(name.length))
}

function reversed(text: string): string {
  return text.split('').reverse().join('')
}
