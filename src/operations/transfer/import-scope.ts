import { isTrusted } from '../../features/trust.ts'
import { type HeadTexts, sectionsIn } from '../../kernel/context/head.ts'
import type { KernelMemory, Owner, RegisterKind } from '../../kernel/feature.ts'
import { nothingWritten } from '../../kernel/log/decide.ts'
import { derivedOf } from '../../kernel/log/derived.ts'
import { HEAD_KEY, lowerTrust, MAX_ENTRY_BYTES, sealMessage } from '../../kernel/log/message.ts'
import { checkMediaType } from '../../ports/attachment.ts'
import { fromBase64 } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json, Message, Trust } from '../../ports/message.ts'
import type { Name, SummaryMark } from '../../ports/op.ts'
import { sameAttachment } from '../../ports/same-attachment.ts'
import { SESSION } from '../../ports/session.ts'
import {
  type Attachment,
  hasBody,
  type LogRow,
  PAGE_UNITS,
  type RegisterRow,
  type Rows,
  type ScopeStore,
} from '../../ports/store.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { invalid, isPlainObject } from '../../text/json.ts'
import { attachmentIn } from '../attachments.ts'
import { lowered, markOf, messageOf, mostOf } from './check-line.ts'
import { carrier, carriers, followed } from './follow.ts'
import { type AttachmentLine, isLogLine, type LogLine, type RegisterLine, type ScopeLine } from './format.ts'
import { type FileRow, type Misplaced, placeRows } from './place-rows.ts'
import { inLine } from './read-lines.ts'
import { adding, isInternal, type KeyKind } from './register-kinds.ts'
import type { ImportReport } from './report.ts'
import { attachmentsOf } from './rows.ts'

/** Lines that are written at once, and UTF-16 units of their bodies. */
const LINES_AT_ONCE = 256
const UNITS_AT_ONCE = PAGE_UNITS / 2

export interface ScopeImportParts {
  readonly store: ScopeStore
  readonly owner: Owner
  /** Absent: the user's own scope. */
  readonly sessionId?: string
  /** Most that a label of the file counts for. */
  readonly most: Trust
  readonly report: ImportReport
  readonly memory: KernelMemory
  readonly kindOf: (key: string) => KeyKind | undefined
  /** Contract: called before the first write. */
  readonly onWrite: () => Promise<void>
}

/** How far the lines of one scope got. */
export interface ScopeState {
  /**
   * Whether the scope has a log of its own, which the file's does not go on from: of a user's own,
   * its registers are taken over one by one.
   */
  readonly isOther: boolean
}

/** Whether a row is a message that was not forgotten. */
function isSaid({ kind, body }: LogRow): boolean {
  return kind === 'message' && body !== null
}

interface FileRegister {
  readonly row: RegisterRow
  readonly part: TransferPart
  readonly line: number
  readonly room: RegisterKind['room']
  /** What of the line is not taken over as it says. */
  readonly lowered?: string
}

/**
 * Takes the lines of one scope, in order. Each is checked before anything of it is written; what is
 * written is whole after each commit, so that a run which was cut off is gone on with by another
 * one over the same lines.
 */
export class ScopeImport {
  readonly #parts: ScopeImportParts
  #isOther: boolean
  /** Rows that are to be written, and those of the op that may not be whole yet. */
  #rows: FileRow[] = []
  #registers: FileRegister[] = []
  #attachments: { readonly attachment: Attachment; readonly line: number }[] = []
  #units = 0
  /** Rows of the log that is there, which the file's are compared with. */
  #known: readonly LogRow[] = []
  /** Seq of the log when it was looked at first. */
  #there: number | undefined
  /** Entries that are there and were forgotten in the file. */
  #emptied: Name[] = []
  /** Of the op that is compared. */
  #compared: { seq: number; count: number } = { seq: 0, count: 0 }
  #hasWritten = false

  constructor(parts: ScopeImportParts, { isOther }: ScopeState = { isOther: false }) {
    this.#parts = parts
    this.#isOther = isOther
  }

  get state(): ScopeState {
    return { isOther: this.#isOther }
  }

  /**
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID (another attachment under
   * that id), ERR_CONFLICT: a session's log is not what the file's goes on from
   */
  async take(line: ScopeLine, number: number): Promise<void> {
    await inLine(number, () => this.#take(line, number, operationOf(number)))
  }

  async #take(line: ScopeLine, number: number, operation: string): Promise<void> {
    if (isLogLine(line)) await this.#takeRow(line, number, operation)
    else if (line.type === 'register') await this.#takeRegister(line, number, operation)
    else await this.#takeAttachment(line, number, operation)
  }

  /**
   * Writes what waits: all lines of the scope were taken, or as many as there are for now.
   *
   * @throws ERR_CONFLICT, too, where the file has no log of a session, and it was erased
   */
  async flush(): Promise<void> {
    await this.#writeRows(this.#rows.length)
    await this.#writeRegisters()
    await this.#attach()
    // Nothing may have been written, which would have asked.
    await this.#refuseErased()
  }

  async #takeRow(line: LogLine, number: number, operation: string): Promise<void> {
    await this.#writeRegisters()
    const file = this.#rowOf(line, number, operation)
    if (this.#isOther) {
      this.#parts.report.skip(number, 'the scope has another log: its registers are taken over one by one')
      return
    }
    this.#there ??= (await this.#parts.store.head()).seq
    if (file.row.seq <= this.#there) {
      await this.#compare(file, line)
      return
    }
    if (!this.#isWhole()) return this.#refuse(number)
    const isNext = file.row.place === 0
    if (isNext && (this.#rows.length >= LINES_AT_ONCE || this.#units >= UNITS_AT_ONCE))
      await this.#writeRows(this.#rows.length)
    this.#rows.push(file)
    this.#units += file.row.body?.length ?? 0
  }

  /** Parts of a session without its log, its title alone too, say nothing of what became of it. */
  async #refuseErased(): Promise<void> {
    const { store, sessionId } = this.#parts
    if (sessionId === undefined || this.#there !== undefined || this.#hasWritten) return
    const { rows } = await store.changesSince(0)
    if (rows.length > 0 && rows.every(({ kind }) => kind === 'erase'))
      throw new PlimsollError('ERR_CONFLICT', `import: session ${sessionId} was erased`, { id: sessionId })
  }

  #rowOf(line: LogLine, number: number, operation: string): FileRow {
    const { seq, opId, id } = line
    const last = this.#rows.at(-1)?.row
    const place = last?.seq === seq ? last.place + 1 : 0
    if (place > 0 && (line.type !== 'message' || last?.kind !== 'message' || last.round !== line.round))
      throw invalid(operation, 'seq', `repeats that of the line before it`)
    const kind = ('kind' in line && line.kind) || line.type
    const row = { seq, place, kind, id, opId, ordinal: 0 }
    const { memory, most } = this.#parts
    const { host, policy } = memory
    if (line.type === 'message') {
      const checked = messageOf({ operation, host }, line)
      const message = checked && lowered(checked, mostOf(checked, most))
      const whole: LogRow = {
        ...row,
        round: line.round,
        body: message ? sealMessage(message) : null,
        ...(message && { derived: derivedOf(message, policy.counter) }),
      }
      return { row: whole, used: attachmentsOf(whole), line: number, ...fall(checked, message, most) }
    }
    if (!('base' in line)) return { row: { ...row, body: null }, used: [], line: number }
    const { base, lane, sources } = line
    const mark = markOf({ operation, host }, line)
    const whole = mark?.type === 'summary' ? lowered<SummaryMark>(mark, most) : mark
    // What a context froze is no more trusted than its file: contexts start over.
    const isLeftOut = mark !== undefined && !isTrusted(most) && line.type !== 'rewind'
    return {
      row: {
        ...row,
        base,
        ...(lane !== undefined && { lane }),
        ...(sources && { sources }),
        body: whole === undefined || isLeftOut ? null : JSON.stringify(whole),
      },
      used: [],
      line: number,
      ...(isLeftOut
        ? { lowered: 'what a context froze is left out' }
        : mark?.type === 'summary' && fall(mark, whole as SummaryMark, most)),
    }
  }

  /** Compares a row with the one that is there. */
  async #compare({ row, line: number }: FileRow, line: LogLine): Promise<void> {
    const { store, report } = this.#parts
    if (this.#compared.seq !== row.seq) {
      if (!this.#isWhole()) return this.#refuse(number)
      this.#compared = { seq: row.seq, count: 0 }
      if ((this.#known.at(-1)?.seq ?? 0) < row.seq || (this.#known[0]?.seq ?? 0) > row.seq)
        this.#known = (await store.changesSince(row.seq - 1)).rows
    }
    const known = this.#knownOf(row.seq)[this.#compared.count++]
    if (!known || namesOf(known) !== namesOf({ ...row, place: known.place })) return this.#refuse(number)
    const given = bodyIn(line)
    // What is forgotten on either side stays so.
    if (known.body !== null && given !== null && known.body !== row.body && known.body !== given)
      return this.#refuse(number)
    if (hasBody(known) && given === null) this.#emptied.push(`entry:${row.id}`)
    report.log('there', 1, isSaid(row) ? 1 : 0)
    await this.#attach()
  }

  /** Whether the file has all rows of the op that was compared last. */
  #isWhole(): boolean {
    const { seq, count } = this.#compared
    return count >= this.#knownOf(seq).length
  }

  #knownOf(seq: number): readonly LogRow[] {
    return this.#known.filter((row) => row.seq === seq)
  }

  /** The log that is there is another one. */
  #refuse(number: number): void {
    const { sessionId, report } = this.#parts
    if (sessionId !== undefined)
      throw new PlimsollError(
        'ERR_CONFLICT',
        `import: session ${sessionId} has another log than the file, which differs at lines[${number}]`,
        { id: sessionId },
      )
    this.#isOther = true
    this.#rows = []
    this.#attachments = []
    report.conflict({ part: 'log' })
  }

  async #writeRows(count: number): Promise<void> {
    const rows = this.#rows.splice(0, count)
    this.#units = 0
    if (rows.length === 0) return
    // Nothing is written, not even that there is such a session, before it is known that the first
    // of them have a place.
    if (!this.#hasWritten) await this.#commitRows(rows, false)
    await this.#attach()
    await this.#begin()
    await this.#commitRows(rows, true)
    this.#there = rows.at(-1)?.row.seq ?? this.#there
    this.#parts.report.log('written', rows.length, rows.filter(({ row }) => isSaid(row)).length)
    this.#noteLowered(rows)
  }

  /**
   * @throws ERR_INVALID_ARGUMENT: a row has no place in the log; ERR_CONFLICT: others wrote to it
   */
  async #commitRows(rows: readonly FileRow[], isWritten: boolean): Promise<void> {
    const { store } = this.#parts
    const ops = [
      ...carriers({ log: rows.map(({ row }) => row) }),
      // Ids, rounds and ops that the store is to look for.
      ...rows.flatMap(({ row }) => [
        carrier(row.opId, row.body === null ? { round: row.id } : {}),
        ...(row.round === undefined ? [] : [carrier(row.opId, { round: row.round })]),
      ]),
    ]
    let problem: Misplaced | undefined
    let isMoved = false
    await store.commit(ops, (given, read) => {
      isMoved = read.head.seq !== this.#there
      const placed = isMoved ? undefined : placeRows(rows, read)
      problem = placed && 'reason' in placed ? placed : undefined
      if (!placed || 'reason' in placed || !isWritten) return nothingWritten([])
      return followed(given, read, { ...placed, emptied: [...(placed.emptied ?? []), ...this.#emptied] })
    })
    if (isMoved)
      throw new PlimsollError('ERR_CONFLICT', 'import: others write to the same scope: import again')
    if (problem) throw invalid('import', `lines[${problem.line}]`, problem.reason)
    if (isWritten) this.#emptied = []
  }

  async #takeRegister(line: RegisterLine, number: number, operation: string): Promise<void> {
    await this.#writeRows(this.#rows.length)
    const { owner, most, report, memory } = this.#parts
    const { key, version, sources, value } = line
    const found = this.#parts.kindOf(key)
    if (!found && !isInternal(key))
      return report.skip(number, `register ${key} belongs to no feature in use: ${adding(key)}`)
    if (!found?.kind.owners.includes(owner)) return report.skip(number, 'a register that is not imported')
    const { kind, name } = found
    const isDeleted = value === undefined
    const checked = isDeleted || value === null ? null : kind.check(operation, name, value, owner)
    // A session that is not there is listed by its own lines, unless it was erased.
    if (this.#isOther && key.startsWith(SESSION)) return
    // A tombstone is of use to the log that says what was deleted.
    if (isDeleted && this.#isOther) return report.skip(number, 'it was deleted where the file was made')
    if (!isTrusted(most) && kind.isUnlabelled)
      return report.skip(number, `has no label, and shows as more than ${most}`)
    if (checked !== null && most !== 'system' && key.startsWith(HEAD_KEY)) {
      const fault = faultOf(checked as unknown as HeadTexts, memory.system, most)
      if (fault !== undefined) return report.skip(number, fault)
    }
    const own = checked === null || !kind.lowered ? checked : kind.lowered(checked, most, owner)
    if (own === undefined)
      return report.skip(number, `is at most ${most}, too low for what all sessions share`)
    const standing = { owner, memory }
    const index = own === null ? [] : (kind.index?.(name, own, standing) ?? [])
    const row: RegisterRow = {
      key,
      version,
      seq: 0,
      ...(!isDeleted && sources && { sources }),
      ...(index.length > 0 && { index }),
      body: isDeleted ? null : JSON.stringify(own),
    }
    const file = { row, part: kind.part, line: number, room: kind.room }
    this.#registers.push({ ...file, ...(checked !== null && fall(checked, own, most)) })
    this.#units += row.body?.length ?? 0
    if (this.#registers.length >= LINES_AT_ONCE || this.#units >= UNITS_AT_ONCE) await this.#writeRegisters()
  }

  /**
   * Writes registers: where the log has the op of their version, as of that op, else as ops of
   * their own at the log's end.
   */
  async #writeRegisters(): Promise<void> {
    const waiting = this.#registers.splice(0)
    this.#units = 0
    if (waiting.length === 0) return
    const { store, report, sessionId } = this.#parts
    const files = await this.#withRoom(waiting)
    if (files.length === 0) return
    await this.#begin()
    let placed: Adopted = { rows: [], log: [], kept: [], there: [] }
    await store.commit(carriers({ registers: files.map(({ row }) => row) }), (ops, read) => {
      placed = adopt(files, read)
      if (placed.rows.length === 0) return nothingWritten([])
      const emptied = placed.rows.flatMap(({ row }): Name[] =>
        row.body === null ? [`register:${row.key}`] : [],
      )
      return followed(ops, read, { log: placed.log, registers: placed.rows.map(({ row }) => row), emptied })
    })
    for (const { part } of placed.rows) report.written(part)
    this.#noteLowered(placed.rows)
    for (const { part } of placed.there) report.there(part)
    for (const { row, part } of placed.kept) {
      // What is there may say the same under another op.
      const there = await store.register(row.key)
      if (there && saidIn(there) === saidIn(row)) report.there(part)
      else report.conflict({ part, key: row.key, ...(sessionId !== undefined && { sessionId }) })
    }
  }

  /** Leaves out what there is no more room for. */
  async #withRoom(files: readonly FileRegister[]): Promise<readonly FileRegister[]> {
    const { store, report } = this.#parts
    const groups = [...new Set(files.flatMap(({ room }) => room?.group ?? []))]
    if (groups.length === 0) return files
    const sums = await store.sums(groups)
    const counts = new Map(groups.map((group) => [group, sums.get(group)?.count ?? 0]))
    const fitting: FileRegister[] = []
    for (const file of files) {
      const { room, row } = file
      // What stands in no list takes no room, and what is there no further.
      const isCounted = row.index?.some(({ group }) => group === room?.group) ?? false
      const isNew = room && isCounted && !(await store.register(row.key))
      const count = room ? (counts.get(room.group) ?? 0) : 0
      if (isNew && count >= room.most) {
        report.skip(file.line, `there are ${room.most} of its kind already`)
        continue
      }
      fitting.push(file)
      if (isNew) counts.set(room.group, count + 1)
    }
    return fitting
  }

  async #takeAttachment(line: AttachmentLine, number: number, operation: string): Promise<void> {
    const { report } = this.#parts
    const { id, mediaType, base64 } = line
    checkMediaType(operation, mediaType)
    const bytes = fromBase64(base64)
    if (!bytes) throw invalid(operation, 'base64', 'is not base64')
    if (bytes.length > MAX_ENTRY_BYTES)
      throw new PlimsollError(
        'ERR_ENTRY_TOO_LARGE',
        `${operation}: the attachment has ${bytes.length} bytes, more than ${MAX_ENTRY_BYTES}`,
        { size: bytes.length, limit: MAX_ENTRY_BYTES },
      )
    if (this.#isOther) return report.skip(number, 'its messages are not imported')
    // With the messages that name it, of which it is not known yet whether they can be imported.
    this.#attachments.push({ attachment: { id, mediaType, bytes }, line: number })
    if (this.#attachments.reduce((sum, one) => sum + one.attachment.bytes.length, 0) > MAX_ENTRY_BYTES)
      await this.#attach()
  }

  async #attach(): Promise<void> {
    const { store, memory, report } = this.#parts
    const { host } = memory
    for (const { attachment, line } of this.#attachments.splice(0)) {
      await this.#begin()
      const { id } = attachment
      const outcome = await store.attach(attachment, host.now())
      if (outcome === 'stored') report.written('log')
      if (outcome === 'deleted') report.skip(line, 'the attachment was deleted')
      if (outcome !== 'kept') continue
      if (!sameAttachment(await attachmentIn(store, id), attachment))
        throw new PlimsollError(
          'ERR_DUPLICATE_ID',
          `import: lines[${line}] has another attachment than the store under ${id}`,
          { id },
        )
      report.there('log')
    }
  }

  #noteLowered(files: readonly { readonly line: number; readonly lowered?: string }[]): void {
    for (const { line, lowered } of files) if (lowered !== undefined) this.#parts.report.lower(line, lowered)
  }

  async #begin(): Promise<void> {
    if (this.#hasWritten) return
    await this.#refuseErased()
    this.#hasWritten = true
    await this.#parts.onWrite()
  }
}

/** What is said of a line whose label falls. */
function fall(before: unknown, after: unknown, most: Trust): { readonly lowered?: string } {
  const [from, to] = [before, after].map((one) => (one as Partial<Message> | undefined)?.trust)
  if (from === undefined || to === undefined || from === to) return {}
  const isRole = lowerTrust(to, most) === to && to !== lowerTrust(from, most)
  const role = isRole ? ': its role is not taken over' : ''
  return { lowered: `trust ${from}, ${to} from now on${role}` }
}

/**
 * Why a head of a file cannot be taken over: its system text is not that of this memory and of
 * sections that may be the file's, or the label of its memory text is above the file's. Undefined:
 * it can.
 */
function faultOf({ system, memory, trust = 'system', parts = {} }: HeadTexts, own: string, most: Trust) {
  const shown = sectionsIn(parts).filter((section) => section.in === 'system' && section.text !== '')
  const texts = [own, ...shown.map(({ text }) => text)].filter((text) => text !== '')
  const isOwn = texts.join('\n\n') === system
  if (!isOwn || shown.some((section) => lowerTrust(section.trust, most) !== section.trust))
    return 'its system text is not this memory’s'
  return memory !== '' && lowerTrust(trust, most) !== trust ? `its memory text is above ${most}` : undefined
}

/** What becomes of registers of a file. */
interface Adopted {
  readonly rows: readonly FileRegister[]
  /** Rows of the log for those whose op it does not have. */
  readonly log: readonly LogRow[]
  /** What is there stays. */
  readonly kept: readonly FileRegister[]
  readonly there: readonly FileRegister[]
}

function adopt(files: readonly FileRegister[], { head, results, registers, deleted }: Rows): Adopted {
  const rows = new Map<string, FileRegister>()
  const log: LogRow[] = []
  const kept: FileRegister[] = []
  const there: FileRegister[] = []
  const own = new Map<string, number>()
  let { seq } = head
  for (const file of files) {
    const { key, version, sources = [], body } = file.row
    const before = rows.get(key)?.row ?? registers.get(key)
    const result = results.get(version)
    const known = own.get(version) ?? (result?.status === 'accepted' ? result.seq : undefined)
    if (before?.version === version || (before && known !== undefined && before.seq > known)) {
      // It, or what was written over it.
      there.push(file)
    } else if (known === undefined && (before || result)) {
      kept.push(file)
    } else if (body !== null && [`register:${key}` as const, ...sources].some((name) => deleted.has(name))) {
      kept.push(file)
    } else {
      if (known === undefined) {
        const what = body === null ? { kind: 'delete', id: `register:${key}` } : { kind: 'put', id: key }
        log.push({ seq: ++seq, place: 0, ...what, opId: version, ordinal: head.ordinal, body: null })
        own.set(version, seq)
      }
      rows.set(key, { ...file, row: { ...file.row, seq: known ?? seq } })
    }
  }
  return { rows: [...rows.values()], log, kept, there }
}

/** What a register says, whenever it was first written. */
function saidIn({ body }: Pick<RegisterRow, 'body'>): string | null {
  const value: unknown = JSON.parse(body ?? 'null')
  return isPlainObject(value) ? JSON.stringify({ ...value, since: undefined }) : body
}

/** What never changes of a row, but for what follows from those before it. */
function namesOf({ seq, place, kind, id, opId, round, lane, base, sources }: LogRow): string {
  return JSON.stringify([seq, place, kind, id, opId, round, lane, base, sources])
}

/** The body of a line as it was before any label was lowered. */
function bodyIn(line: LogLine): string | null {
  const value: Json | undefined = 'message' in line ? line.message : 'mark' in line ? line.mark : undefined
  return value === undefined ? null : JSON.stringify(value)
}

function operationOf(number: number): string {
  return `import: lines[${number}]`
}
