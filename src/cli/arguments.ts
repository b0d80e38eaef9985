import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Ask } from '../features/compaction/compaction-options.ts'
import { POLICIES, type PolicyName } from '../replay/policy.ts'
import { PROVIDERS, type Provider } from '../replay/transcript.ts'
import type { DatabaseOptions } from './database.ts'

export const COUNTERS = ['o200k', 'default', 'chars', 'bytes'] as const
export const FORMATS = ['plimsoll', 'jsonl', 'json'] as const
/** What an export may be written as. */
export const WRITTEN = ['jsonl', 'markdown'] as const
/** What an operator may do. */
const ACTIONS = ['find', 'export', 'erase'] as const
/** What a caller may claim for an import over HTTP. */
const TRUSTS = ['user', 'import'] as const
export type CounterName = (typeof COUNTERS)[number]

/** How Plimsoll builds the contexts of a recording. */
export interface BuildOptions {
  /** The cap, in tokens. */
  readonly budget: number
  /** Most rounds in Plimsoll's window. */
  readonly rounds?: number
  /** Rounds that are left when Plimsoll's window is cut back. */
  readonly keep?: number
  /** Tokens that are left then, and that the optimum of `replay` holds at least. */
  readonly floor?: number
  /** Absent: `o200k` where its tokenizer is installed, else `default`. */
  readonly counter?: CounterName
  /** Absent: the format of each conversation. */
  readonly provider?: Provider
  /** Tokens of changing text at the end of each context. */
  readonly tail: number
  /** Whether what leaves Plimsoll's window is summarised. */
  readonly compact: boolean
  /** How its summaries are asked for. */
  readonly ask?: Ask
}

export interface ReplayOptions extends BuildOptions {
  readonly command: 'replay'
  readonly files: readonly string[]
  /** Absent: all conversations. */
  readonly conversation?: string
  /** The policy whose contexts are drawn and written. */
  readonly policy: PolicyName
  /** Where to write the rendered requests. */
  readonly requests?: string
  readonly json: boolean
}

export interface ExplainOptions extends BuildOptions {
  readonly command: 'explain'
  readonly file: string
  /** Absent: the only one of the file. */
  readonly conversation?: string
  /** Number of the call in its conversation, from 0. */
  readonly call: number
  readonly json: boolean
}

/** The current request of a session in a database. */
export interface ExplainStoredOptions extends DatabaseOptions {
  readonly command: 'explain-stored'
  readonly session: string
  readonly project?: string
  readonly budget: number
  readonly rounds?: number
  readonly keep?: number
  readonly counter: CounterName
  readonly provider: Provider
  readonly json: boolean
}

/** Two numbers, the smaller one first. */
export type Pair = readonly [number, number]

export interface DiffOptions extends BuildOptions {
  readonly command: 'diff'
  readonly file: string
  /** Absent: the only one of the file. */
  readonly conversation?: string
  /** Calls of a conversation, from 0, or lines of a file of requests, from 1. */
  readonly at: { readonly calls: Pair } | { readonly lines: Pair }
  readonly json: boolean
}

export interface LintOptions {
  readonly command: 'lint'
  readonly files: readonly string[]
  /** For lines that do not name their provider. */
  readonly provider?: Provider
}

export interface TwiceOptions extends BuildOptions {
  readonly command: 'twice'
  readonly files: readonly string[]
}

/** The start of a session, from a file of what is remembered, or from a database. */
export interface StartCommandOptions {
  readonly command: 'start'
  /** `-` is standard input. */
  readonly from: { readonly file: string } | (DatabaseOptions & StartStored)
  readonly project?: string
  readonly query?: string
  /** Most tokens of the whole. Absent: as the settings say. */
  readonly budget?: number
  /** Absent: `o200k` where its tokenizer is installed, else `default`. */
  readonly counter?: CounterName
  /** Unix milliseconds. Absent: now. */
  readonly now?: number
  readonly ifNoneMatch?: string
}

/** What of a start is asked of a database alone. */
export interface StartStored {
  /** Absent: a new one. */
  readonly session?: string
  readonly sessions?: 'all' | 'own'
}

export interface HistoryCommandOptions extends DatabaseOptions {
  readonly command: 'history'
  readonly session: string
  /** The last so many. Absent: all. */
  readonly messages?: number
  readonly json: boolean
}

export interface ExportCommandOptions extends DatabaseOptions {
  readonly command: 'export'
  /** Absent: all of the user. */
  readonly session?: string
  readonly format: 'jsonl' | 'markdown'
  /** Absent: standard output. */
  readonly to?: string
}

/** A log of another program, to be turned into an export; or an export, to be checked. */
export interface ImportCommandOptions {
  readonly command: 'import'
  /** `-` is standard input. */
  readonly file: string
  /** The session of messages that belong to none. Absent: as the file is called. */
  readonly session?: string
  /** Absent: as the first line says. */
  readonly from?: (typeof FORMATS)[number]
  /** Where to write the export. Absent: standard output, unless it is sent. */
  readonly to?: string
  /** What is written. Absent: `jsonl`, the lines of an export. */
  readonly format?: (typeof WRITTEN)[number]
  /** Whether it only says what the file has. Default false. */
  readonly dryRun?: boolean
  /** An edge to which the export is sent, the token of who gets it, and what they claim for it. */
  readonly edge?: {
    readonly url: string
    readonly token: string | undefined
    readonly trust: (typeof TRUSTS)[number] | undefined
  }
}

/** What an operator asks of an edge about a user. */
export interface AdminOptions {
  readonly command: 'admin'
  readonly action: (typeof ACTIONS)[number]
  readonly user: string
  readonly tenant?: string
  readonly url: string
  /** Where to write an export. Absent: standard output. */
  readonly to?: string
}

export type Arguments =
  | AdminOptions
  | ReplayOptions
  | ExplainOptions
  | ExplainStoredOptions
  | HistoryCommandOptions
  | ExportCommandOptions
  | DiffOptions
  | LintOptions
  | TwiceOptions
  | StartCommandOptions
  | ImportCommandOptions
  | { readonly command: 'help' }
  | { readonly command: 'version' }

/** Something in the arguments that the caller has to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const HELP = `plimsoll: what an agent's memory would have put in front of the model

usage
  plimsoll replay <file.jsonl...>            rebuild the context of every model call in recorded conversations
  plimsoll explain <file.jsonl> --call <n>   say where every token of one call's request comes from
  plimsoll diff <file.jsonl> --call <a>,<b>  say where a request parts from an earlier one, why, and the cost
  plimsoll lint <requests.jsonl...>          check rendered requests against their provider's rules
  plimsoll lint --twice <file.jsonl...>      check that contexts depend on nothing but the log
  plimsoll start --db <file> --user <id>     print what a session starts with, as JSON
  plimsoll start <memory.jsonl>              the same, of a file of what is remembered
  plimsoll history --db <file> --user <id>   print the messages of a stored session
  plimsoll export --db <file> --user <id>    print all that is stored of a user, or of a session
  plimsoll explain --db <file> --user <id>   say where every token of a session's next request comes from
  plimsoll import <file>                     turn another program's log into an export that importInto reads
  plimsoll admin find <user> --url <edge>    print how much an edge holds of a user; export and erase: all of it

--db: a file of sqliteStore. It is only read, beside a process that writes to it
  --user <id>          whose memory it is
  --tenant <id>        of that tenant
  --session <id>       history, explain: the session; start, export: of that session alone, or as it starts (start
                       default: a new one; export default: all of the user)
  --project <name>     start, explain: the session's project
  --messages <n>       history: the last so many (default: all)
  --json               history: a line of JSON for each message; explain: one JSON object
  --format <format>    export: jsonl, which importInto reads (default), or markdown
  --to <path>          export: write it there (default: standard output)
  --sessions own       start: nothing of other sessions

replay, explain, diff, lint --twice: one conversation a line:
{ "id", "format": "openai" | "anthropic", "messages", "system"? }
  --budget <tokens>    the line: most tokens that a context may take (default 16000)
  --counter <name>     o200k (exact; needs gpt-tokenizer), default (the library's), chars (4 a token) or bytes
                       (default o200k)
  --provider <name>    openai or anthropic (default: the conversation's own format)
  --rounds <n>         plimsoll: also at most n rounds in the window
  --keep <n>           plimsoll: also at most n rounds after the window was cut
  --floor <tokens>     plimsoll: cut the window back to so many tokens, whenever that pays; replay: the least that the
                       optimum holds (default: half of the line)
  --tail <tokens>      end each context with that much text that changes at every call (default 0)
  --compact            plimsoll: summarise what leaves the window, with a stand-in for a model that picks sentences
  --ask <way>          how it is asked: continuation (default), where that pays, or apart, always

replay
  --conversation <id>  only the conversation of that id
  --policy <name>      whose contexts to draw and to write: plimsoll (default), full, rounds, messages, tokens
  --requests <path>    write a line for each request: { conversation, call, provider, cap, used, epoch?, request }
  --json               figures as one JSON object instead of drawings

explain, diff
  --conversation <id>  the conversation; may be left out where the file has only one
  --call <n>, <a>,<b>  which call, or which two, as replay counts them: from 0
  --lines <a>,<b>      diff: two lines of a file of requests, from 1
  --json               one JSON object instead of text

lint
  --provider <name>    for lines that do not name theirs

start: one thing a line, of the file or (-) of standard input: { "type": "fact", "kind", "text", ... },
{ "type": "message", "role", "content" }, { "type": "skill", "name", "description", "text" } or
{ "type": "profile", "name", "text" }
  --project <name>     facts of that project too, beside those of none
  --query <text>       recall what was said about that
  --budget <tokens>    most tokens of the whole (default 3000)
  --counter <name>     as above (with --db: default)
  --now <time>         an ISO 8601 time; its UTC day says what is due and what has ended (default: today)
  --if-none-match <e>  print nothing if the start's etag is that one

import: of the file or (-) of standard input
  --from <format>      jsonl (a message a line: { "role", "content", "timestamp"? }), json (one user's file:
                       { "messages" } or { "conversations" }; conversations.json of ChatGPT or Claude) or plimsoll
                       (an export, which is checked) (default: as the first line says)
  --session <id>       the session of messages that belong to none (default: the file's name)
  --dry-run            only say what the file has, session by session
  --to <path>          write the export there (default: standard output)
  --format <format>    jsonl (default), or markdown: the conversations as a file that people can read
  --url <address>      send it to an edge instead
  --token <token>      of the user who gets it (default: the variable PLIMSOLL_TOKEN)
  --trust <trust>      user for a backup of their own, import for any other file (default import)

admin: by the operator's secret of the edge, in the variable OPERATOR_SECRET
  find, export, erase  what is held, in counts; all of it, as an export; remove it for good, and print the certificate
  --url <address>      of the edge
  --tenant <id>        the user's tenant
  --to <path>          export: write it there (default: standard output)
  --yes                erase: needed

all
  -h, --help           this text
  -v, --version        the version

exit status: 0 done; 1 a line could not be read, explain or diff met a refused call, lint found a problem, a
start does not fit, an import left something out, an edge refuses, or a database has no such session or cannot be read; 2 bad
arguments
`

/** Reads the text of an option; throws {@link UsageError}. */
type Reader<Value> = (name: string, text: string) => Value
/** The options of a command: how each is read; `FLAG` takes no text. */
type Table = { readonly [name: string]: Reader<unknown> | typeof FLAG }
type Values<Options extends Table> = {
  [Name in keyof Options]?: Options[Name] extends Reader<infer Value> ? Value : boolean
}

const FLAG = 'flag'
const ASKS = ['continuation', 'apart'] as const
const BUILD = {
  budget: whole(1),
  rounds: whole(1),
  keep: whole(1),
  floor: whole(1),
  counter: oneOf(COUNTERS),
  provider: oneOf(PROVIDERS),
  tail: whole(0),
  compact: FLAG,
  ask: oneOf(ASKS),
} as const
const BUILD_DEFAULTS = { budget: 16_000, tail: 0, compact: false }

const COMMANDS = 'say replay, explain, diff, lint, start, history, export, import or admin'
const DATABASE = { db: text, user: text, tenant: text } as const

/** Throws {@link UsageError} for anything that it does not understand. */
export function parseArguments([command, ...rest]: readonly string[]): Arguments {
  const all = [command, ...rest]
  if (all.includes('--help') || all.includes('-h')) return { command: 'help' }
  if (all.includes('--version') || all.includes('-v')) return { command: 'version' }
  switch (command) {
    case 'replay':
      return parseReplay(rest)
    case 'explain':
      return rest.some(isDatabase) ? parseExplainStored(rest) : parseExplain(rest)
    case 'diff':
      return parseDiff(rest)
    case 'lint':
      return rest.includes('--twice') ? parseTwice(rest) : parseLint(rest)
    case 'start':
      return parseStart(rest)
    case 'history':
      return parseHistory(rest)
    case 'export':
      return parseExport(rest)
    case 'import':
      return parseImport(rest)
    case 'admin':
      return parseAdmin(rest)
    case undefined:
      throw new UsageError(`no command: ${COMMANDS}`)
    default:
      throw new UsageError(`unknown command "${command}": ${COMMANDS}`)
  }
}

function parseReplay(argv: readonly string[]): ReplayOptions {
  const own = { conversation: text, policy: oneOf(POLICIES), requests: text, json: FLAG } as const
  const { values, files } = parse(argv, { ...BUILD, ...own })
  const { requests } = values
  if (files.length === 0) throw new UsageError('replay: name at least one file of conversations')
  if (requests !== undefined && files.some((path) => resolve(path) === resolve(requests)))
    throw new UsageError(`replay: ${requests} is named twice, and would be overwritten`)
  return { command: 'replay', files, policy: 'plimsoll', json: false, ...build(values) }
}

function parseExplain(argv: readonly string[]): ExplainOptions {
  const { values, files } = parse(argv, { ...BUILD, conversation: text, call: whole(0), json: FLAG })
  const { call } = values
  if (call === undefined) throw new UsageError('explain: name the call with --call <n>')
  return { command: 'explain', file: onlyFile('explain', files), json: false, ...build(values), call }
}

function parseDiff(argv: readonly string[]): DiffOptions {
  const own = { conversation: text, call: pair(0), lines: pair(1), json: FLAG } as const
  const { values, files } = parse(argv, { ...BUILD, ...own })
  const { call: calls, lines, ...options } = values
  if (lines && (calls || options.conversation !== undefined)) {
    throw new UsageError('diff: --lines picks by itself, without --call and --conversation')
  }
  const at = lines ? { lines } : calls && { calls }
  if (!at)
    throw new UsageError('diff: name two calls with --call <a>,<b>, or two requests with --lines <a>,<b>')
  return { command: 'diff', file: onlyFile('diff', files), json: false, ...build(options), at }
}

function parseLint(argv: readonly string[]): LintOptions {
  const { values, files } = parse(argv, { provider: oneOf(PROVIDERS) })
  if (files.length === 0) throw new UsageError('lint: name at least one file of requests')
  return { command: 'lint', files, ...values }
}

function parseTwice(argv: readonly string[]): TwiceOptions {
  const { values, files } = parse(argv, { ...BUILD, twice: FLAG })
  const { twice: _, ...options } = values
  if (files.length === 0) throw new UsageError('lint --twice: name at least one file of conversations')
  return { command: 'twice', files, ...build(options) }
}

function parseExplainStored(argv: readonly string[]): ExplainStoredOptions {
  const { budget, rounds, keep, counter, provider } = BUILD
  const own = { session: text, project: text, json: FLAG, budget, rounds, keep, counter, provider } as const
  const { values, files } = parse(argv, { ...DATABASE, ...own })
  const { tail: _, compact: __, ...built } = build(values)
  return {
    command: 'explain-stored',
    json: false,
    counter: 'default',
    provider: 'openai',
    ...built,
    ...database('explain', values, files),
    session: needed('explain', 'session', values.session),
  }
}

function parseHistory(argv: readonly string[]): HistoryCommandOptions {
  const { values, files } = parse(argv, { ...DATABASE, session: text, messages: whole(1), json: FLAG })
  return {
    command: 'history',
    json: false,
    ...values,
    ...database('history', values, files),
    session: needed('history', 'session', values.session),
  }
}

function parseExport(argv: readonly string[]): ExportCommandOptions {
  const own = { session: text, format: oneOf(['jsonl', 'markdown'] as const), to: text } as const
  const { values, files } = parse(argv, { ...DATABASE, ...own })
  return { command: 'export', format: 'jsonl', ...values, ...database('export', values, files) }
}

function isDatabase(argument: string): boolean {
  return argument === '--db' || argument.startsWith('--db=')
}

function database(
  command: string,
  { db, user, tenant }: Values<typeof DATABASE>,
  files: readonly string[],
): DatabaseOptions {
  const [file] = files
  if (file !== undefined) throw new UsageError(`${command}: --db goes without a file, not with "${file}"`)
  return {
    db: needed(command, 'db', db),
    user: needed(command, 'user', user),
    ...(tenant !== undefined && { tenant }),
  }
}

function needed(command: string, name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${command}: name the ${name} with --${name}`)
  return value
}

function parseStart(argv: readonly string[]): StartCommandOptions {
  const common = {
    project: text,
    query: text,
    budget: whole(1),
    counter: oneOf(COUNTERS),
    now: time,
    'if-none-match': text,
  } as const
  if (!argv.some(isDatabase)) {
    const { values, files } = parse(argv, common)
    const [file] = files
    if (file === undefined || files.length > 1)
      throw new UsageError('start: name a database with --db, or one file')
    return startOf({ file }, values)
  }
  const own = { session: text, sessions: oneOf(['all', 'own'] as const) } as const
  const { values, files } = parse(argv, { ...DATABASE, ...own, ...common })
  const { db, user, tenant, session, sessions, ...asked } = values
  const stored = {
    ...database('start', values, files),
    ...(session !== undefined && { session }),
    ...(sessions !== undefined && { sessions }),
  }
  return startOf(stored, asked)
}

function startOf(
  from: StartCommandOptions['from'],
  {
    'if-none-match': ifNoneMatch,
    ...asked
  }: Omit<StartCommandOptions, 'command' | 'from' | 'ifNoneMatch'> & { readonly 'if-none-match'?: string },
): StartCommandOptions {
  return { command: 'start', from, ...asked, ...(ifNoneMatch !== undefined && { ifNoneMatch }) }
}

function parseAdmin(argv: readonly string[]): AdminOptions {
  const { values, files } = parse(argv, { url: text, tenant: text, to: text, yes: FLAG })
  const [asked, user] = files
  const action = ACTIONS.find((name) => name === asked)
  if (!action) throw new UsageError(`admin: say ${ACTIONS.join(', ')}, and the user`)
  if (user === undefined || user === '' || files.length > 2)
    throw new UsageError(`admin ${action}: name one user`)
  const { url, tenant, to, yes = false } = values
  if (to !== undefined && action !== 'export') throw new UsageError(`admin ${action}: --to is for export`)
  if (yes !== (action === 'erase'))
    throw new UsageError(
      yes ? `admin ${action}: --yes is for erase` : 'admin erase: it is for good; say --yes',
    )
  const address = needed('admin', 'url', url)
  if (!URL.canParse(address)) throw new UsageError(`admin: --url is no address: "${address}"`)
  return {
    command: 'admin',
    ...{ action, user, url: address },
    ...(tenant !== undefined && { tenant }),
    ...(to !== undefined && { to }),
  }
}

function parseImport(argv: readonly string[]): ImportCommandOptions {
  const sent = { url: text, token: text, trust: oneOf(TRUSTS) } as const
  const written = { from: oneOf(FORMATS), session: text, to: text, format: oneOf(WRITTEN) } as const
  const { values, files } = parse(argv, { ...written, 'dry-run': FLAG, ...sent })
  const { url, token, trust, 'dry-run': dryRun, ...options } = values
  if (url !== undefined && options.to !== undefined) throw new UsageError('import: --url goes without --to')
  if (url !== undefined && options.format === 'markdown')
    throw new UsageError('import: --url goes without --format markdown')
  for (const [name, value] of Object.entries({ token, trust }))
    if (url === undefined && value !== undefined) throw new UsageError(`import: --${name} goes with --url`)
  if (url !== undefined && !/^https?:\/\//.test(url))
    throw new UsageError(`import: --url takes an address of http or https, not "${url}"`)
  const edge = url === undefined ? {} : { edge: { url, token, trust } }
  if (dryRun && (options.to !== undefined || options.format !== undefined))
    throw new UsageError('import: --dry-run writes nothing, so it goes without --to and --format')
  return {
    ...{ command: 'import', file: onlyFile('import', files), ...options, ...edge },
    ...(dryRun && { dryRun }),
  }
}

function build<Options extends Values<typeof BUILD>>(values: Options): Options & BuildOptions {
  const { rounds, keep, floor, ask, compact } = values
  if (ask !== undefined && !compact) throw new UsageError('--ask needs --compact')
  if (rounds !== undefined && keep !== undefined && keep > rounds) {
    throw new UsageError(`--keep ${keep} is more than --rounds ${rounds}`)
  }
  if (floor !== undefined && floor > (values.budget ?? BUILD_DEFAULTS.budget))
    throw new UsageError(`--floor ${floor} is more than the line`)
  return { ...BUILD_DEFAULTS, ...values }
}

function onlyFile(command: string, files: readonly string[]): string {
  const [file] = files
  if (file === undefined || files.length > 1) throw new UsageError(`${command}: name one file`)
  return file
}

/** What the arguments name: files, and of the options those that are there. */
function parse<const Options extends Table>(
  argv: readonly string[],
  options: Options,
): { readonly values: Values<Options>; readonly files: readonly string[] } {
  const types = Object.entries(options).map(([name, reader]) => [
    name,
    { type: reader === FLAG ? 'boolean' : 'string' },
  ])
  const config: ParseArgsConfig = {
    args: [...argv],
    options: Object.fromEntries(types),
    allowPositionals: true,
  }
  try {
    const { values, positionals } = parseArgs(config)
    const read = Object.entries(values).map(([name, value]) => {
      const reader = options[name]
      return [name, typeof reader === 'function' ? reader(name, String(value)) : value]
    })
    return { values: Object.fromEntries(read), files: positionals }
  } catch (error) {
    // Node appends advice on how to pass the option as a file name, which nobody here means.
    if (error instanceof TypeError) throw new UsageError(error.message.replace(/\. To specify a .*$/s, ''))
    throw error
  }
}

function text(_: string, value: string): string {
  return value
}

function whole(least: number): Reader<number> {
  return (name, text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least))
      throw new UsageError(`--${name} takes a whole number from ${least} on, not "${text}"`)
    return value
  }
}

/** A day is its beginning, and a time without an offset is in UTC, wherever the command runs. */
function time(name: string, text: string): number {
  const [isTime, day = '', clock = '00:00', offset = 'Z'] = ISO_TIME.exec(text) ?? []
  const value = isTime === undefined ? Number.NaN : Date.parse(`${day}T${clock}${offset}`)
  if (!(value >= 0)) throw new UsageError(`--${name} takes an ISO 8601 time from 1970 on, not "${text}"`)
  return value
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/

function pair(least: number): Reader<Pair> {
  return (name, text) => {
    const [first = Number.NaN, second = Number.NaN] = /^\d{1,12},\d{1,12}$/.test(text)
      ? text.split(',').map(Number)
      : []
    if (!(first >= least && second > first)) {
      throw new UsageError(
        `--${name} takes two whole numbers from ${least} on, the smaller one first, not "${text}"`,
      )
    }
    return [first, second]
  }
}

function oneOf<Name extends string>(names: readonly Name[]): Reader<Name> {
  return (option, text) => {
    const found = names.find((name) => name === text)
    if (!found) throw new UsageError(`--${option} is one of ${names.join(', ')}, not "${text}"`)
    return found
  }
}
