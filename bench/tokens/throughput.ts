import { median, quantile, round } from '../stats.ts'
import { corpora } from './corpora.ts'
import { flat } from './flat.ts'
import { DEFAULT, type Library, loadLibrary, OURS } from './libraries.ts'
import { classPass } from './limit.ts'

/** How fast a subject goes through a corpus. */
export interface Speed {
  readonly subject: string
  readonly corpus: string
  /** Median over the rounds, in 10^6 bytes of UTF-8 a second. */
  readonly megabytes: number
}

/** One call for a turn of {@link TURN} characters of prose, in microseconds. */
export interface Turn {
  readonly subject: string
  readonly p50: number
  readonly p99: number
}

export interface ThroughputOptions {
  readonly rounds: number
  /** Parts of each corpus, of which each round takes another. */
  readonly parts: number
  readonly turns: number
  readonly progress: (line: string) => void
}

interface Subject {
  readonly name: string
  /** Gives a number, so that no call can be optimised away. */
  run(text: string): number
  /** Before each pass over the texts, outside the timed part. */
  before?(texts: readonly string[]): void
}

export const COUNT = 'plimsoll o200k count'
export const FRESH = 'gpt-tokenizer countTokens, fresh'
export const TOKENX = 'tokenx'

const WARM_UP_MESSAGES = 20
const WARM_UP_MS = 300
const TURN = 300
/** Length of a message of the corpora. */
const MESSAGE = 2_000

let sum = 0

/**
 * All subjects over the same texts in turns, so that a slow minute of the machine hits them all;
 * other texts in each round, as a processor remembers the branches of a text that comes again and
 * again.
 */
export async function measureThroughput(
  options: ThroughputOptions,
): Promise<{ speeds: Speed[]; turns: Turn[] }> {
  const subjects = await loadSubjects()
  options.progress('throughput: warming up')
  warmUp(subjects)
  const speeds: Speed[] = []
  for (const [corpus, messages] of Object.entries(corpora)) {
    options.progress(`throughput: ${corpus}`)
    speeds.push(...measureSpeeds(subjects, corpus, partsOf(messages, options.parts), options.rounds))
  }
  options.progress(`throughput: turns of ${TURN} characters`)
  const turns = measureTurns(subjects, options.turns, options.rounds)
  return { speeds, turns }
}

/**
 * Not twice one library in a row, but for repeated texts: it would find its tables in the
 * processor's cache.
 */
async function loadSubjects(): Promise<Subject[]> {
  const o200k = await loadLibrary(OURS)
  const gpt = await loadLibrary('gpt-tokenizer')
  const forget = () => gpt.forget?.()
  const count = countOf(gpt)
  const encode = encodeOf(gpt)
  return [
    { name: COUNT, run: countOf(o200k) },
    { name: FRESH, run: count, before: forget },
    { name: 'js-tiktoken encode', run: countOf(await loadLibrary('js-tiktoken')) },
    { name: 'tiktoken encode_ordinary', run: countOf(await loadLibrary('tiktoken')) },
    { name: TOKENX, run: countOf(await loadLibrary(TOKENX)) },
    { name: DEFAULT, run: countOf(await loadLibrary(DEFAULT)) },
    { name: 'charsPerToken(4)', run: countOf(await loadLibrary('charsPerToken(4)')) },
    { name: 'plimsoll o200k encode', run: encodeOf(o200k) },
    { name: 'gpt-tokenizer encode, fresh', run: encode, before: forget },
    { name: 'gpt-tokenizer countTokens, repeated', run: count, before: (texts) => texts.forEach(count) },
    { name: 'gpt-tokenizer encode, repeated', run: encode, before: (texts) => texts.forEach(encode) },
    { name: 'limit: one pass over the classes', run: classPass },
  ]
}

const countOf = (library: Library) => (text: string) => library.count(text)
const encodeOf = (library: Library) => (text: string) => library.encode?.(text).length ?? 0

/** Until the engine has compiled what each runs often, over some of every corpus. */
function warmUp(subjects: readonly Subject[]): void {
  const texts = Object.values(corpora).flatMap((messages) => messages.slice(-WARM_UP_MESSAGES))
  for (const subject of subjects) for (let ms = 0; ms < WARM_UP_MS; ) ms += pass(subject, texts)
}

function measureSpeeds(
  subjects: readonly Subject[],
  corpus: string,
  parts: readonly string[][],
  rounds: number,
) {
  const speeds = subjects.map((): number[] => [])
  for (let lap = 0; lap < rounds; lap++) {
    const texts = parts[lap % parts.length] ?? []
    const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0)
    for (const [index, subject] of inTurn(subjects, lap))
      speeds[index]?.push(bytes / 1_000 / pass(subject, texts))
  }
  return subjects.map(({ name }, index): Speed => {
    return { subject: name, corpus, megabytes: round(median(speeds[index] ?? [])) }
  })
}

/** Each round begins with another one, as the first to see a text is slower. */
function inTurn(subjects: readonly Subject[], lap: number): (readonly [number, Subject])[] {
  const entries = [...subjects.entries()]
  const first = lap % entries.length
  return [...entries.slice(first), ...entries.slice(0, first)]
}

/** One pass over the texts, in milliseconds. */
function pass(subject: Subject, texts: readonly string[]): number {
  subject.before?.(texts)
  const start = performance.now()
  for (const text of texts) sum += subject.run(text)
  return performance.now() - start
}

function measureTurns(subjects: readonly Subject[], count: number, rounds: number): Turn[] {
  const times = subjects.map((): number[] => [])
  for (let lap = 0; lap < rounds; lap++) {
    const texts = turnsOf(corpora.prose, count, lap)
    for (const [index, subject] of inTurn(subjects, lap)) {
      subject.before?.(texts)
      for (const text of texts) {
        const start = performance.now()
        sum += subject.run(text)
        times[index]?.push((performance.now() - start) * 1_000)
      }
    }
  }
  if (!Number.isFinite(sum)) throw new Error('a subject gave no number')
  return subjects.map(({ name }, index) => ({
    subject: name,
    p50: round(median(times[index] ?? [])),
    p99: round(quantile(times[index] ?? [], 0.99)),
  }))
}

/** A corpus in so many parts, each of messages from all over it. */
function partsOf(messages: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, part) =>
    messages.filter((_, index) => index % count === part).map(flat),
  )
}

/** One from each message, others in each round. */
function turnsOf(messages: readonly string[], count: number, lap: number): string[] {
  const start = (lap * TURN) % (MESSAGE - TURN)
  return messages.slice(0, count).map((message) => flat(message.slice(start, start + TURN)))
}
