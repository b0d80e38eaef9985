import { type AuditInput, noteAudit } from '../../features/audit.ts'
import { noteAll } from '../../features/facts/kept.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { addSession } from '../../kernel/log/add-session.ts'
import { checkScope } from '../../kernel/memory.ts'
import { isPlimsollError, type PlimsollError } from '../../ports/errors.ts'
import type { Memory } from '../../ports/memory.ts'
import type { Trust } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { Imported } from '../../ports/transfer.ts'
import { checkOneOf } from '../../text/check-value.ts'
import { checkOptions, invalid } from '../../text/json.ts'
import { memoryOf } from '../kernel-of.ts'
import { checkLine } from './check-line.ts'
import type { HeaderLine, ScopeLine, SessionLine, TransferLine } from './format.ts'
import { ScopeImport, type ScopeImportParts, type ScopeState } from './import-scope.ts'
import { inLine, type ReadLine, readLines } from './read-lines.ts'
import { kindsOf } from './register-kinds.ts'
import { ImportReport } from './report.ts'

/** How far the labels of a file are believed. */
export type ImportTrust = 'keep' | 'user' | 'import'

export interface ImportOptions {
  /**
   * The most that a label of trust in the file counts for; a label only ever falls, and the report
   * counts where. Default `keep`.
   *
   * - `keep`: as it is, for a backup that the app made and held itself.
   * - `user`: for a file from the user's own hands. Messages of the system are data then, of trust
   *   `import`, and heads whose system text is not this memory's are left out.
   * - `import`: for a file that nobody vouches for. What has no label and would show as the app's
   *   or the user's word is left out too (profile, skills, settings, checkpoint, what contexts
   *   froze), and so are the facts that all sessions share.
   */
  readonly trust?: ImportTrust
}

const MOST: { readonly [trust in ImportTrust]: Trust } = { keep: 'system', user: 'user', import: 'import' }

/** @throws ERR_INVALID_ARGUMENT */
function checkTrustOption(options: unknown): Trust {
  checkOptions('importInto', 'options', options, ['trust'])
  const { trust = 'keep' } = options as ImportOptions
  checkOneOf('import', 'trust', trust, Object.keys(MOST))
  return MOST[trust]
}

/**
 * Reads what {@link exportFrom} gave, as lines or as chunks of any size, into a user, or into a
 * session: that of the scope, or where it names none, that of the file. Where nothing is there, the
 * log becomes the same, number by number. Where a part is there, the rest is added, so a run that
 * broke off is gone on with by repeating it, and a newer export of the same log is added to an
 * older one; a whole one writes nothing. Of registers that are there with another content, those
 * that are there stay, and are counted as conflicts.
 *
 * Each line is checked before anything of it is written; what stands before a line that is refused
 * is written. What wrote something is recorded in the user's audit.
 *
 * @param chunks strings that give the file when they are put together, the ends of its lines
 * included
 * @throws ERR_INVALID_ARGUMENT (with the line, from 1; or the file is not whole),
 * ERR_ENTRY_TOO_LARGE, ERR_CONFLICT (the session has another log, or others write to it),
 * ERR_DUPLICATE_ID (an attachment), ERR_UPGRADE_REQUIRED
 */
export async function importInto(
  memory: Memory,
  scope: Scope,
  chunks: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions = {},
): Promise<Imported> {
  return importFrom(memoryOf('importInto', memory), checkScope('importInto', scope), chunks, options)
}

async function importFrom(
  kernel: KernelMemory,
  scope: Scope,
  chunks: AsyncIterable<string> | Iterable<string>,
  options: ImportOptions,
): Promise<Imported> {
  const { store, host } = kernel
  const kindOf = kindsOf(kernel.use)
  const most = checkTrustOption(options)
  const report = new ImportReport()
  const { sessionId: own, ...user } = scope
  const open = (session: SessionLine | undefined): ImportSection => {
    const sessionId = session && (own ?? session.sessionId)
    // One that was listed nowhere held nothing that anybody said.
    const list = async (): Promise<void> => {
      if (sessionId !== undefined && session?.createdAt !== undefined)
        await addSession(store.open(user), host, sessionId, session)
    }
    const home = store.open(user)
    const target = sessionId === undefined ? home : store.open({ ...user, sessionId })
    const to = new ScopeImport({
      memory: kernel,
      kindOf,
      store: target,
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
        if (sessionId !== undefined) await noteAll({ store: target, user: home, sessionId, host })
      },
    }
  }
  const record = async (): Promise<void> => {
    const input = importRecord(report.result, own)
    if (input) await noteAudit(store.open(user), host, input)
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

/**
 * Reads lines of one scope alone, where a user's scopes are not in one store: part of a file, each
 * with its number in it. What comes before and after is for others to read, as is the record of it
 * all.
 *
 * @param options.isOther what the call before said of the scope
 */
export async function importScope(
  memory: Memory,
  scope: Scope,
  lines: Iterable<readonly [number, ScopeLine]>,
  { most, isOther, onWrite }: ScopeState & Pick<ScopeImportParts, 'most' | 'onWrite'>,
): Promise<ScopeState & { readonly report: Imported }> {
  const kernel = memoryOf('importScope', memory)
  const { sessionId } = scope
  const report = new ImportReport()
  const to = new ScopeImport(
    {
      memory: kernel,
      kindOf: kindsOf(kernel.use),
      store: kernel.store.open(scope),
      owner: sessionId === undefined ? 'user' : 'session',
      ...(sessionId !== undefined && { sessionId }),
      most,
      report,
      onWrite,
    },
    { isOther },
  )
  for (const [number, line] of lines) await to.take(line, number)
  await to.flush()
  return { report: report.result, ...to.state }
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
      if (line.type !== 'export') throw invalid(operation, 'type', 'must be export in the first line')
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
          throw invalid(operation, 'lines', `is ${line.lines}, but ${before} lines came before`)
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
    if (!this.#hasEnded)
      throw invalid('import', 'lines', 'end without a line of type end: the file is not whole')
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
