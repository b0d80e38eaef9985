import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'

export type Provider = 'openai' | 'anthropic'
export const PROVIDERS = ['openai', 'anthropic'] as const
export const COUNTERS = ['o200k', 'chars', 'bytes'] as const
export const POLICIES = ['plimsoll', 'full', 'rounds', 'messages', 'tokens'] as const
export type CounterName = (typeof COUNTERS)[number]
export type PolicyName = (typeof POLICIES)[number]

export interface ReplayOptions {
  readonly command: 'replay'
  readonly files: readonly string[]
  /** Absent: all conversations. */
  readonly conversation?: string
  /** The cap, in tokens. */
  readonly budget: number
  /** Most rounds in Plimsoll's window. */
  readonly rounds?: number
  /** Rounds that are left when Plimsoll's window is cut back. */
  readonly keep?: number
  /** Absent: `o200k` where its tokenizer is installed, else `chars`. */
  readonly counter?: CounterName
  /** Absent: the format of each conversation. */
  readonly provider?: Provider
  /** The policy whose contexts are drawn and written. */
  readonly policy: PolicyName
  /** Tokens of changing text at the end of each context. */
  readonly tail: number
  /** Where to write the rendered requests. */
  readonly requests?: string
  /** Where to draw all calls as a picture. */
  readonly svg?: string
  readonly json: boolean
}

export interface LintOptions {
  readonly command: 'lint'
  readonly files: readonly string[]
  /** For lines that do not name their provider. */
  readonly provider?: Provider
}

export type Arguments =
  | ReplayOptions
  | LintOptions
  | { readonly command: 'help' }
  | { readonly command: 'version' }

/** Something in the arguments that the caller has to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const HELP = `plimsoll: what an agent's memory would have put in front of the model

usage
  plimsoll replay <file.jsonl...> [options]   rebuild the context of every model call in recorded conversations
  plimsoll lint <requests.jsonl...>           check rendered requests against their provider's rules

replay reads one conversation a line: { "id", "format": "openai" | "anthropic", "messages", "system"? }
  --conversation <id>  only the conversation of that id
  --budget <tokens>    the line: most tokens that a context may take (default 16000)
  --counter <name>     o200k (exact; needs gpt-tokenizer), chars (4 a token) or bytes (default o200k)
  --provider <name>    openai or anthropic (default: the conversation's own format)
  --policy <name>      whose contexts are drawn and written: plimsoll (default), full, rounds, messages, tokens
  --rounds <n>         plimsoll: also at most n rounds in the window
  --keep <n>           plimsoll: also at most n rounds after the window was cut
  --tail <tokens>      end each context with that much text that changes at every call (default 0)
  --requests <path>    write each request as { conversation, call, provider, cap, used, request }, one a line
  --svg <path>         draw tokens and cost of every call, under every policy, as an SVG picture
  --json               figures as one JSON object instead of drawings

lint
  --provider <name>    for lines that do not name theirs

both
  -h, --help           this text
  -v, --version        the version

exit status: 0 done; 1 a line could not be read, or lint found a problem; 2 bad arguments
`

const COMMON = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  provider: { type: 'string' },
} as const
const REPLAY = {
  ...COMMON,
  conversation: { type: 'string' },
  budget: { type: 'string' },
  rounds: { type: 'string' },
  keep: { type: 'string' },
  counter: { type: 'string' },
  policy: { type: 'string' },
  tail: { type: 'string' },
  requests: { type: 'string' },
  svg: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** Throws {@link UsageError} for anything that it does not understand. */
export function parseArguments(argv: readonly string[]): Arguments {
  const [command, ...rest] = argv
  if (command === 'replay') return parseReplay(rest)
  if (command === 'lint') return parseLint(rest)
  if (command === undefined) throw new UsageError('no command: say replay or lint')
  if (!command.startsWith('-')) throw new UsageError(`unknown command "${command}": say replay or lint`)
  const { values } = parse(argv, COMMON)
  return { command: values.version ? 'version' : 'help' }
}

function parseReplay(argv: readonly string[]): Arguments {
  const { values, positionals } = parse(argv, REPLAY)
  if (values.help) return { command: 'help' }
  if (values.version) return { command: 'version' }
  if (positionals.length === 0) throw new UsageError('replay: name at least one file of conversations')
  const rounds = whole('rounds', values.rounds, 1)
  const keep = whole('keep', values.keep, 1)
  if (rounds !== undefined && keep !== undefined && keep > rounds) {
    throw new UsageError(`--keep ${keep} is more than --rounds ${rounds}`)
  }
  const paths = [...positionals, values.requests, values.svg].filter((path) => path !== undefined)
  for (const output of [values.requests, values.svg]) {
    if (output !== undefined && paths.filter((path) => resolve(path) === resolve(output)).length > 1) {
      throw new UsageError(`replay: ${output} is named twice, and would be overwritten`)
    }
  }
  const counter = oneOf('counter', values.counter, COUNTERS)
  const provider = oneOf('provider', values.provider, PROVIDERS)
  return {
    command: 'replay',
    files: positionals,
    ...(values.conversation !== undefined && { conversation: values.conversation }),
    budget: whole('budget', values.budget, 1) ?? 16_000,
    ...(rounds !== undefined && { rounds }),
    ...(keep !== undefined && { keep }),
    ...(counter && { counter }),
    ...(provider && { provider }),
    policy: oneOf('policy', values.policy, POLICIES) ?? 'plimsoll',
    tail: whole('tail', values.tail, 0) ?? 0,
    ...(values.requests !== undefined && { requests: values.requests }),
    ...(values.svg !== undefined && { svg: values.svg }),
    json: values.json ?? false,
  }
}

function parseLint(argv: readonly string[]): Arguments {
  const { values, positionals } = parse(argv, COMMON)
  if (values.help) return { command: 'help' }
  if (values.version) return { command: 'version' }
  if (positionals.length === 0) throw new UsageError('lint: name at least one file of requests')
  const provider = oneOf('provider', values.provider, PROVIDERS)
  return { command: 'lint', files: positionals, ...(provider && { provider }) }
}

function parse<Options extends NonNullable<ParseArgsConfig['options']>>(
  argv: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    // Node appends advice on how to pass the option as a file name, which nobody here means.
    if (error instanceof TypeError) throw new UsageError(error.message.replace(/\. To specify a .*$/s, ''))
    throw error
  }
}

function whole(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least))
    throw new UsageError(`--${name} takes a whole number from ${least} on, not "${text}"`)
  return value
}

function oneOf<Name extends string>(
  option: string,
  text: string | undefined,
  names: readonly Name[],
): Name | undefined {
  if (text === undefined) return undefined
  const found = names.find((name) => name === text)
  if (!found) throw new UsageError(`--${option} is one of ${names.join(', ')}, not "${text}"`)
  return found
}
