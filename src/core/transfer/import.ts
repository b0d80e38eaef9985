import type { Counter } from '../../ports/counter.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Trust } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import type { FactOptions } from '../facts/fact-options.ts'
import { invalid, isPlainObject } from '../json.ts'
import type { Recall } from '../recall/lexical-recall.ts'
import type { Sessions } from '../sessions.ts'
import { checkLine } from './check-line.ts'
import type { HeaderLine, SessionLine, TransferLine } from './format.ts'
import { ScopeImport } from './import-scope.ts'
import { readLines } from './read-lines.ts'
import { type Imported, ImportReport } from './report.ts'

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
  const run = new FileImport(parts, scope, checkTrustOption(options))
  for await (const read of readLines('import', chunks))
    await run.take(checkLine(`import: lines[${read.number}]`, read), read.number)
  return run.end()
}

/** One run over the lines of a file. */
class FileImport {
  readonly #parts: ImportParts
  readonly #scope: Scope
  readonly #most: Trust
  readonly #report = new ImportReport()
  #header: HeaderLine | undefined
  /** The scope that the lines belong to now; `skipped`: its log cannot be gone on with. */
  #current: { readonly to: ScopeImport; readonly done: () => Promise<void> } | 'skipped' | undefined
  #session: SessionLine | undefined
  #lines = 0
  #hasEnded = false

  constructor(parts: ImportParts, scope: Scope, most: Trust) {
    this.#parts = parts
    this.#scope = scope
    this.#most = most
  }

  async take(line: TransferLine, number: number): Promise<void> {
    const operation = `import: lines[${number}]`
    if (this.#hasEnded) throw invalid(operation, 'type', 'must not follow the end')
    if (!this.#header) {
      if (line.type !== 'export')
        throw invalid(operation, 'type', 'must be export: the file begins with what it is')
      this.#check(line, operation)
      this.#header = line
    } else if (line.type === 'end') {
      if (line.lines !== this.#lines)
        throw invalid(operation, 'lines', `is ${line.lines}, and there were ${this.#lines}`)
      this.#hasEnded = true
      await this.#close()
    } else if (line.type === 'user') {
      if (this.#current || this.#header.of !== 'user')
        throw invalid(operation, 'type', 'must not be user here')
      const { tenant, userId } = this.#scope
      this.#open({ ...(tenant !== undefined && { tenant }), userId })
    } else if (line.type === 'session') {
      if (this.#header.of === 'session' ? this.#current : !this.#current)
        throw invalid(operation, 'type', 'must not be session here')
      await this.#close()
      this.#open({ ...this.#scope, sessionId: this.#scope.sessionId ?? line.sessionId }, line)
    } else {
      await this.#pass(line, number, operation)
    }
    this.#lines++
  }

  /** @throws ERR_INVALID_ARGUMENT: the file is not whole */
  end(): Imported {
    if (!this.#hasEnded) throw invalid('import', 'lines', 'end before the end of the file: it is not whole')
    return this.#report.result
  }

  #check({ of }: HeaderLine, operation: string): void {
    if (of === 'user' && this.#scope.sessionId !== undefined)
      throw invalid(operation, 'of', 'is user: import it without a sessionId')
  }

  async #pass(line: TransferLine, number: number, operation: string): Promise<void> {
    if (this.#current === undefined) throw invalid(operation, 'type', 'must be user or session here')
    if (this.#current === 'skipped') {
      this.#report.skip(number, 'its session has another log')
      return
    }
    try {
      await this.#current.to.take(line, number)
    } catch (error) {
      // Of several sessions the others go on.
      const sessionId = this.#session?.sessionId
      const isOne = this.#header?.of === 'session' || sessionId === undefined
      if (isOne || !isPlimsollError(error, 'ERR_CONFLICT') || error.id !== sessionId) throw error
      this.#report.conflict({ part: 'log', sessionId })
      this.#current = 'skipped'
    }
  }

  #open(scope: Scope, session?: SessionLine): void {
    const { store, sessions } = this.#parts
    const { sessionId } = scope
    const scopeStore = store.open(scope)
    const list = async (): Promise<void> => {
      // One that was listed nowhere held nothing that anybody said.
      if (sessionId !== undefined && session?.createdAt !== undefined) await sessions.add(sessionId, session)
    }
    this.#session = session
    const to = new ScopeImport({
      ...this.#parts,
      store: scopeStore,
      owner: sessionId === undefined ? 'user' : 'session',
      ...(sessionId !== undefined && { sessionId }),
      most: this.#most,
      report: this.#report,
      onWrite: list,
    })
    const done = async (): Promise<void> => {
      await to.flush()
      // One that holds nothing is listed too.
      await list()
    }
    this.#current = { to, done }
  }

  async #close(): Promise<void> {
    const current = this.#current
    if (current && current !== 'skipped') await current.done()
  }
}
