import { median, quantile, round } from '../stats.ts'
import { corpora } from './corpora.ts'
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
  /** UTF-8 bytes of each corpus that are counted. */
  readonly bytes: number
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

/** A subject's share of a round on a corpus: passes are repeated until it is reached. */
const LEAST_MS = 20
const TURN = 300

let sum = 0

/** All subjects over the same texts in turns, so that a slow minute of the machine hits them all. */
export async function measureThroughput(
  options: ThroughputOptions,
): Promise<{ speeds: Speed[]; turns: Turn[] }> {
  const subjects = await loadSubjects()
  const speeds: Speed[] = []
  for (const [corpus, messages] of Object.entries(corpora)) {
    options.progress(`throughput: ${corpus}`)
    speeds.push(...measureSpeeds(subjects, corpus, someOf(messages, options.bytes), options.rounds))
  }
  options.progress(`throughput: turns of ${TURN} characters`)
  const turns = measureTurns(subjects, turnsOf(corpora.prose, options.turns), options.rounds)
  return { speeds, turns }
}

async function loadSubjects(): Promise<Subject[]> {
  const o200k = await loadLibrary(OURS)
  const gpt = await loadLibrary('gpt-tokenizer')
  const forget = () => gpt.forget?.()
  const hotCount = countOf(gpt)
  const hotEncode = encodeOf(gpt)
  return [
    { name: COUNT, run: countOf(o200k) },
    { name: 'plimsoll o200k encode', run: encodeOf(o200k) },
    { name: FRESH, run: hotCount, before: forget },
    { name: 'gpt-tokenizer encode, fresh', run: hotEncode, before: forget },
    {
      name: 'gpt-tokenizer countTokens, repeated',
      run: hotCount,
      before: (texts) => texts.forEach(hotCount),
    },
    { name: 'gpt-tokenizer encode, repeated', run: hotEncode, before: (texts) => texts.forEach(hotEncode) },
    { name: 'js-tiktoken encode', run: countOf(await loadLibrary('js-tiktoken')) },
    { name: 'tiktoken encode_ordinary', run: countOf(await loadLibrary('tiktoken')) },
    { name: TOKENX, run: countOf(await loadLibrary(TOKENX)) },
    { name: DEFAULT, run: countOf(await loadLibrary(DEFAULT)) },
    { name: 'charsPerToken(4)', run: countOf(await loadLibrary('charsPerToken(4)')) },
    { name: 'limit: one pass over the classes', run: classPass },
  ]
}

const countOf = (library: Library) => (text: string) => library.count(text)
const encodeOf = (library: Library) => (text: string) => library.encode?.(text).length ?? 0

function measureSpeeds(
  subjects: readonly Subject[],
  corpus: string,
  texts: readonly string[],
  rounds: number,
) {
  const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0)
  const times = subjects.map((): number[] => [])
  for (const subject of subjects) pass(subject, texts)
  for (let lap = 0; lap < rounds; lap++) {
    for (const [index, subject] of subjects.entries()) {
      let [ms, passes] = [0, 0]
      for (; ms < LEAST_MS; passes++) ms += pass(subject, texts)
      times[index]?.push(ms / passes)
    }
  }
  return subjects.map(({ name }, index): Speed => {
    const seconds = median(times[index] ?? []) / 1_000
    return { subject: name, corpus, megabytes: round(bytes / 1e6 / seconds) }
  })
}

/** One pass over the texts, in milliseconds. */
function pass(subject: Subject, texts: readonly string[]): number {
  subject.before?.(texts)
  const start = performance.now()
  for (const text of texts) sum += subject.run(text)
  return performance.now() - start
}

function measureTurns(subjects: readonly Subject[], texts: readonly string[], rounds: number): Turn[] {
  const times = subjects.map((): number[] => [])
  for (let lap = 0; lap < rounds; lap++) {
    for (const [index, subject] of subjects.entries()) {
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

/** Messages from all over a corpus, of about so many bytes together. */
function someOf(messages: readonly string[], bytes: number): string[] {
  const all = messages.reduce((total, message) => total + Buffer.byteLength(message), 0)
  const step = Math.max(1, Math.floor(all / bytes))
  return messages.filter((_, index) => index % step === 0).map(flat)
}

function turnsOf(messages: readonly string[], count: number): string[] {
  const turns = messages.map((message) => message.slice(0, TURN))
  const step = Math.max(1, Math.floor(turns.length / count))
  return turns.filter((_, index) => index % step === 0).map(flat)
}

/** A string of its own: a slice would be read through the text that it was cut from. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}
