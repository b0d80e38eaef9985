/** What is published of declarations: what the entries export, and what that is made of. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

/** A part of a syntax tree, as far as it is read here. */
interface Part {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Origin {
  readonly file: string
  readonly name: string
}

const ALL = '*'

/** The file that a declaration names. Undefined: it is another package's. */
function fileOf(file: string, source: string): string | undefined {
  if (!source.startsWith('.')) return undefined
  return join(file, '..', source).replace(/(\.d)?\.[jt]s$/, '.d.ts')
}

function isPart(value: unknown): value is Part {
  return typeof (value as Partial<Part> | null)?.type === 'string'
}

function* partsIn(part: Part): Generator<Part> {
  yield part
  for (const [field, value] of Object.entries(part)) {
    // A key that is no expression names nothing else.
    if (field === 'key' && part.computed !== true) continue
    for (const each of Array.isArray(value) ? value : [value]) if (isPart(each)) yield* partsIn(each)
  }
}

const nameOf = (part: unknown): string => String((part as Part).name)

/** One file: its statements, and those of them that somebody needs. */
class Declarations {
  readonly #file: string
  readonly #text: string
  readonly #body: readonly Part[]
  readonly #named = new Map<string, Part[]>()
  readonly #origins = new Map<string, Origin>()
  /** Files of which all is exported here as well. */
  readonly #passed: string[] = []
  readonly #needed = new Set<Part>()
  readonly #used = new Set<string>()

  constructor(file: string) {
    this.#file = file
    this.#text = readFileSync(file, 'utf8')
    this.#body = parseSync(file, this.#text).program.body as unknown as readonly Part[]
    for (const statement of this.#body) this.#read(statement)
  }

  get isNeeded(): boolean {
    return this.#needed.size > 0
  }

  /** @returns what of other files that takes */
  need(name: string): readonly Origin[] {
    if (this.#named.has(name) || this.#origins.has(name)) return this.#takeName(name)
    // All of it, or what one of the files has of which all is exported here.
    const statements =
      name === ALL ? this.#body : this.#body.filter(({ type }) => type === 'ExportAllDeclaration')
    const taken = statements.flatMap((statement) => this.#take(statement))
    return [...this.#passed.map((file) => ({ file, name })), ...taken]
  }

  /** Its text without what nobody needs. */
  shaken(): string {
    let text = ''
    let at = 0
    for (const statement of this.#body) {
      // What stands before a statement is said of it.
      const before = this.#text.slice(at, statement.start)
      at = statement.end
      if (statement.type === 'ImportDeclaration') text += this.#import(statement, before)
      else if (this.#needed.has(statement)) text += before + this.#text.slice(statement.start, at)
    }
    return `${text.trimStart()}\n`
  }

  #read(statement: Part): void {
    const { type, declaration, source } = statement
    const file = source ? fileOf(this.#file, String((source as Part).value)) : undefined
    const specifiers = (statement.specifiers ?? []) as readonly Part[]
    if (type === 'ExportAllDeclaration' && file !== undefined) this.#passed.push(file)
    for (const { local, imported, exported } of specifiers) {
      const here = nameOf(exported ?? local)
      if (source && file !== undefined)
        this.#origins.set(here, { file, name: imported || exported ? nameOf(imported ?? local) : ALL })
      if (exported) this.#name(here, statement)
    }
    const declared = isPart(declaration) ? declaration : statement
    const all = declared.type === 'VariableDeclaration' ? (declared.declarations as Part[]) : [declared]
    for (const { id } of all) if (isPart(id)) this.#name(nameOf(id), statement)
  }

  #name(name: string, statement: Part): void {
    this.#named.set(name, [...(this.#named.get(name) ?? []), statement])
  }

  #take(statement: Part): readonly Origin[] {
    if (this.#needed.has(statement)) return []
    this.#needed.add(statement)
    const taken: Origin[] = []
    for (const part of partsIn(statement)) {
      if (part.type === 'Identifier') taken.push(...this.#takeName(nameOf(part)))
      if (part.type !== 'TSImportType') continue
      const file = fileOf(this.#file, String((part.source as Part).value))
      if (file !== undefined) taken.push({ file, name: ALL })
    }
    return taken
  }

  #takeName(name: string): readonly Origin[] {
    this.#used.add(name)
    const origin = this.#origins.get(name)
    const statements = this.#named.get(name) ?? []
    return [...(origin ? [origin] : []), ...statements.flatMap((statement) => this.#take(statement))]
  }

  /** With the names that are used. */
  #import(statement: Part, before: string): string {
    const specifiers = statement.specifiers as readonly Part[]
    const used = specifiers.filter(({ local }) => this.#used.has(nameOf(local)))
    if (used.length === 0) return ''
    if (used.length === specifiers.length) return before + this.#text.slice(statement.start, statement.end)
    const names = used.map(({ start, end }) => this.#text.slice(start, end)).join(', ')
    const kind = statement.importKind === 'type' ? 'import type' : 'import'
    return `${before}${kind} { ${names} } from ${(statement.source as Part).raw};`
  }
}

/**
 * The declarations that entries are made of, by file, each without what no entry needs.
 *
 * @param entries all of these is kept
 */
export function shake(entries: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, Declarations>()
  const done = new Set<string>()
  const rest: Origin[] = entries.map((entry) => ({ file: join(entry), name: ALL }))
  for (let origin = rest.pop(); origin; origin = rest.pop()) {
    const { file, name } = origin
    if (done.has(`${file} ${name}`) || !existsSync(file)) continue
    done.add(`${file} ${name}`)
    const declarations = files.get(file) ?? new Declarations(file)
    files.set(file, declarations)
    rest.push(...declarations.need(name))
  }
  const needed = [...files].filter(([, { isNeeded }]) => isNeeded)
  return new Map(needed.map(([file, declarations]) => [file, declarations.shaken()]))
}
