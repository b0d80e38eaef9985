import type { Counter } from '../../ports/counter.ts'
import { isPlimsollError, type PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Trust } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import type { Imported } from '../../ports/transfer.ts'
import type { FactOptions } from '../../features/facts/fact-options.ts'
import { type AuditInput, noteAudit } from '../audit.ts'
import { invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { Recall } from '../../features/recall/lexical-recall.ts'
import type { Sessions } from '../sessions.ts'
import { checkLine } from './check-line.ts'
import type { HeaderLine, ScopeLine, SessionLine, TransferLine } from './format.ts'
import { ScopeImport } from './import-scope.ts'
import { inLine, type ReadLine, readLines } from './read-lines.ts'
import { ImportReport } from './report.ts'

/** How far the labels of a file are believed. */
export type ImportTrust = 'keep' | 'user' | 'import'

export interface ImportOptions {
  /**
   * The most that a label of trust in the file counts for; a label only ever falls. `keep`: as it is, for a backup that the app made and
   * held itself. `user`: for a file from the user's own hands. `import`: for a file that nobody vouches for; what has no label and would
   * show as the app's or the user's word is left out then (profile, skills, settings, checkpoint, what contexts froze), and so are the
   * facts that all sessions share. Default `keep`.
   */
  readonly trust?: ImportTrust
}

export interface ImportParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly host: Host
  readonly counter: Counter
  readonly recall: Recall | undefined
  readonly facts: FactOptions
  /** Whether it is noted when a checkpoint was written. */
  readonly isDated: boolean
}

const MOST: { readonly [trust in ImportTrust]: Trust } = { keep: 'system', user: 'user', import: 'import' }

/** @throws ERR_INVALID_ARGUMENT */
export function checkTrustOption(options: unknown): Trust {
  if (!isPlainObject(options)) throw invalid('import', 'options', 'must be an object')
  const { trust = 'keep' } = options as ImportOptions
  if (!Object.hasOwn(MOST, trust)) throw invalid('import', 'trust', 'must be keep, user or import')
  return MOST[trust]
}

/** Imports a whole file. @throws as {@link Memory.import} */
export async function importInto(
  parts: ImportParts,
  scope: Scope,
  chunks: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<Imported> {
  const { store, sessions } = parts
  const most = checkTrustOption(options)
  const report = new ImportReport()
  const { sessionId: own, ...user } = scope
  const open = (session: SessionLine | undefined): ImportSection => {
    const sessionId = session && (own ?? session.sessionId)
    // One that was listed nowhere held nothing that anybody said.
    const list = async (): Promise<void> => {
      if (sessionId !== undefined && session?.createdAt !== undefined) await sessions.add(sessionId, session)
    }
    const to = new ScopeImport({
      ...parts,
      store: store.open({ ...user, ...(sessionId !== undefined && { sessionId }) }),
      owner: sessionId === undefined ? 'user' : 'session',
      ...(sessionId !== undefined && { sessionId }),
      most,
      report,
      onWrite: list,
    })
    return {
      sessionId,
      take: (line, number) => to.take(line, number),
      // One that holds nothing is listed too.
      done: async () => {
        await to.flush()
        await list()
      },
    }
  }
  const record = async (): Promise<void> => {
    const input = importRecord(report.result, own)
    if (input) await noteAudit(store.open(user), parts.host, input)
  }
  try {
    await importFile(chunks, own === undefined ? 'user' : 'session', report, open)
  } catch (error) {
    // What stands before that is written.
    await record().catch(() => {})
    throw error
  }
  await record()
  return report.result
}

/** What is recorded of an import: how much it wrote of each part. Undefined: it wrote nothing. */
export function importRecord({ parts }: Imported, sessionId?: string): AuditInput | undefined {
  const counts = Object.fromEntries(
    Object.entries(parts).flatMap(([part, { written }]) => (written > 0 ? [[part, written]] : [])),
  )
  if (Object.keys(counts).length === 0) return undefined
  return { action: 'import', ...(sessionId !== undefined && { target: sessionId }), counts }
}

/** Where the lines of one scope go. */
export interface ImportSection {
  /** Undefined: the user's own. */
  readonly sessionId: string | undefined
  /** @throws ERR_CONFLICT with the session's id: its log is not what the file's goes on from */
  take(line: ScopeLine, number: number): Promise<void>
  /** Called when all lines of the scope were taken. @throws as {@link take} */
  done(): Promise<void>
}

/**
 * Reads a file, and hands the lines of each scope to where they go.
 *
 * @param target whether it is imported into a user, or into one session
 * @param open Contract: where the lines of the user's own scope, or of a session, go
 */
export async function importFile(
  chunks: AsyncIterable<string> | Iterable<string>,
  target: 'user' | 'session',
  report: ImportReport,
  open: (session: SessionLine | undefined) => ImportSection,
): Promise<void> {
  const run = new FileImport(target, report, open)
  for await (const read of readLines('import', chunks))
    await inLine(read.number, () => run.take(checkLine(operationOf(read.number), read), read))
  run.end()
}

/** One run over the lines of a file. */
class FileImport {
  readonly #target: 'user' | 'session'
  readonly #report: ImportReport
  readonly #open: (session: SessionLine | undefined) => ImportSection
  #header: HeaderLine | undefined
  /** The scope that the lines belong to now; `skipped`: its log cannot be gone on with. */
  #current: ImportSection | 'skipped' | undefined
  #hasEnded = false

  constructor(
    target: 'user' | 'session',
    report: ImportReport,
    open: (session: SessionLine | undefined) => ImportSection,
  ) {
    this.#target = target
    this.#report = report
    this.#open = open
  }

  async take(line: TransferLine, { number, before }: ReadLine): Promise<void> {
    const operation = operationOf(number)
    const misplaced = (): PlimsollError => invalid(operation, 'type', `must not be ${line.type} here`)
    if (this.#hasEnded) throw misplaced()
    if (!this.#header) {
      if (line.type !== 'export')
        throw invalid(operation, 'type', 'must be export: the file begins with what it is')
      if (line.of === 'user' && this.#target === 'session')
        throw invalid(operation, 'of', 'is user: import it without a sessionId')
      this.#header = line
      return
    }
    switch (line.type) {
      case 'export':
        throw misplaced()
      case 'user':
        if (this.#current || this.#header.of !== 'user') throw misplaced()
        this.#current = this.#open(undefined)
        return
      case 'session':
        if (this.#header.of === 'session' ? this.#current : !this.#current) throw misplaced()
        await this.#close()
        this.#current = this.#open(line)
        return
      case 'end':
        if (line.lines !== before)
          throw invalid(operation, 'lines', `is ${line.lines}, and there were ${before}`)
        await this.#close()
        this.#hasEnded = true
        return
      default:
        if (this.#current === undefined) throw misplaced()
        if (this.#current === 'skipped') this.#report.skip(number, 'its session has another log')
        else await this.#guard(this.#current, (section) => section.take(line, number))
    }
  }

  /** @throws ERR_INVALID_ARGUMENT: the file is not whole */
  end(): void {
    if (!this.#hasEnded) throw invalid('import', 'lines', 'end before the end of the file: it is not whole')
  }

  async #close(): Promise<void> {
    if (this.#current && this.#current !== 'skipped')
      await this.#guard(this.#current, (section) => section.done())
  }

  /** Of several sessions the others go on where one has another log. */
  async #guard(section: ImportSection, run: (section: ImportSection) => Promise<void>): Promise<void> {
    try {
      await run(section)
    } catch (error) {
      const { sessionId } = section
      const isOne = this.#header?.of === 'session' || sessionId === undefined
      if (isOne || !isPlimsollError(error, 'ERR_CONFLICT') || error.id !== sessionId) throw error
      this.#report.conflict({ part: 'log', sessionId })
      this.#current = 'skipped'
    }
  }
}

function operationOf(number: number): string {
  return `import: lines[${number}]`
}
