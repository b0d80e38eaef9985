/**
 * Laws 1, 2, 4 and 5 of a context, and that it holds what its receipt names, judged by what an app
 * can see: the context, the configuration, and the ids of the session's messages. Shares no code
 * with the library.
 */
import type { Configuration } from './configuration.ts'
import { field, isObject, type Json, type JsonObject, listIn, numberIn, plain, textIn } from './json.ts'
import { recount } from './recount.ts'

/** What a checker is given of one call. */
export interface Checked {
  readonly context: JsonObject
  readonly configuration: Configuration
  /** Ids of the session's messages, in the log's order. */
  readonly log: readonly string[]
  /** Names the scope and its store. */
  readonly scope: string
}

/** Judges the contexts of one history, in their order. */
export class LawChecker {
  /** Blocks without the tail, by scope, lane and epoch. */
  readonly #shown = new Map<string, readonly string[]>()

  /** @returns what is broken, a line each */
  check(checked: Checked): readonly string[] {
    const { context } = checked
    const blocks = listIn(context, 'blocks')
    return [
      ...lineBroken(checked, blocks),
      ...pairsBroken(blocks),
      ...coverageBroken(checked, blocks),
      ...this.#prefixBroken(checked, blocks),
      ...namesBroken(context, blocks),
    ]
  }

  /** What was erased may come again under the same names. */
  forget(): void {
    this.#shown.clear()
  }

  /** Law 5: within an epoch the blocks only grow at their end. */
  #prefixBroken({ context, scope }: Checked, blocks: readonly Json[]): readonly string[] {
    const { receipt } = context
    if (typeof field(receipt, 'epoch') === 'string') return []
    const key = JSON.stringify([scope, context.lane, context.epoch])
    const before = this.#shown.get(key) ?? []
    const now = blocks.filter((block) => field(block, 'section') !== 'tail').map((one) => JSON.stringify(one))
    this.#shown.set(key, now)
    const at = before.findIndex((block, index) => block !== now[index])
    return at < 0 ? [] : [`law 5: block ${at} is shown otherwise than before in its epoch`]
  }
}

/** Law 1: never over the line, by the policy's counter and by our own count. */
function lineBroken({ context, configuration }: Checked, blocks: readonly Json[]): readonly string[] {
  const receipt = field(context, 'receipt')
  const { budget } = configuration
  const { contextWindow, maxOutputTokens } =
    typeof budget === 'number' ? { contextWindow: budget, maxOutputTokens: 0 } : budget
  const cap = contextWindow - maxOutputTokens
  const [used, margin, floor] = [
    numberIn(receipt, 'used'),
    numberIn(receipt, 'margin'),
    numberIn(receipt, 'floor'),
  ]
  const broken: string[] = []
  if (numberIn(receipt, 'cap') !== cap)
    broken.push(`law 1: the cap is ${numberIn(receipt, 'cap')}, not ${cap}`)
  if (used + margin > cap) broken.push(`law 1: ${used} and a margin of ${margin} are above ${cap}`)
  if (floor > used + margin) broken.push(`law 1: the floor of ${floor} is above the ${used} that are used`)
  const sections = listIn(receipt, 'sections')
  const sum = sections.reduce<number>((total, section) => total + numberIn(section, 'tokens'), 0)
  if (sum > used) broken.push(`law 1: the sections have ${sum} tokens, ${used} are said to be used`)
  for (const section of sections) {
    const own = blocks.filter((block) => field(block, 'section') === field(section, 'name'))
    const tokens = own.reduce<number>((total, block) => total + numberIn(block, 'tokens'), 0)
    if (
      own.length > 0 &&
      (tokens !== numberIn(section, 'tokens') || own.length !== numberIn(section, 'items'))
    )
      broken.push(`law 1: section ${textIn(section, 'name')} has ${own.length} blocks of ${tokens} tokens`)
  }
  return [...broken, ...recount(configuration.counter, numberIn(receipt, 'calibration') || 1, blocks, used)]
}

/** Law 2: no call without its result, no result without its call, and all of a step together. */
function pairsBroken(blocks: readonly Json[]): readonly string[] {
  const broken: string[] = []
  const seen = new Set<string>()
  let open = new Set<string>()
  for (const [at, block] of blocks.entries()) {
    const role = textIn(block, 'role')
    if (role !== 'tool' && open.size > 0) {
      broken.push(`law 2: block ${at} stands between a call and its result`)
      open = new Set()
    }
    for (const part of listIn(block, 'parts')) {
      const type = field(part, 'type')
      if (type === 'tool-call') {
        const id = textIn(part, 'id')
        if (seen.has(id)) broken.push(`law 2: two calls are rendered as ${id}`)
        seen.add(id)
        open.add(id)
      }
      if (type === 'tool-result' && !open.delete(textIn(part, 'callId')))
        broken.push(`law 2: the result of ${textIn(part, 'callId')} has no call before it`)
    }
  }
  if (open.size > 0) broken.push(`law 2: ${[...open].join(', ')} has no result`)
  return broken
}

/**
 * Law 4: each message is shown, covered by the summary or listed as omitted, and only one of these.
 */
function coverageBroken({ context, log }: Checked, blocks: readonly Json[]): readonly string[] {
  const broken: string[] = []
  const places = new Map(log.map((id, place) => [id, place]))
  const times = log.map(() => 0)
  const count = (place: number): void => {
    times[place] = (times[place] ?? 0) + 1
  }
  const shown = blocks.filter((block) => field(block, 'section') !== 'memory')
  for (const id of new Set(shown.flatMap((block) => listIn(block, 'from').map(String)))) {
    const place = places.get(id)
    if (place === undefined) broken.push(`law 4: ${id} is shown, and no message of the log`)
    else count(place)
  }
  const receipt = field(context, 'receipt')
  for (const range of [...listIn(field(receipt, 'summary'), 'covers'), ...listIn(receipt, 'omitted')]) {
    const [from, to] = [places.get(textIn(range, 'from')), places.get(textIn(range, 'to'))]
    if (from === undefined || to === undefined || to - from + 1 !== numberIn(range, 'count')) {
      broken.push(`law 4: ${JSON.stringify(range)} is no range of the log`)
      continue
    }
    for (let place = from; place <= to; place++) count(place)
  }
  const wrong = times.findIndex((one) => one !== 1)
  if (wrong >= 0) broken.push(`law 4: ${log[wrong]} is accounted for ${times[wrong]} times`)
  return broken
}

/** Of long-term memory, what a receipt counts as shown. */
function namesBroken(context: JsonObject, blocks: readonly Json[]): readonly string[] {
  const broken: string[] = []
  const receipt = field(context, 'receipt')
  const textOf = (section: string): string =>
    blocks
      .filter((block) => field(block, 'section') === section)
      .flatMap((block) => listIn(block, 'parts').map((part) => textIn(part, 'text')))
      .join('\n')
  const [system, memory, tail] = [textOf('system'), textOf('memory'), textOf('tail')]
  const fence = textIn(context, 'fence')
  const linesIn = (text: string, name: string): number =>
    (text.split(`<${fence} ${name}>\n`)[1]?.split(`\n</${fence}>`)[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('- ')).length
  const counted: { readonly [name: string]: () => number } = {
    pins: () => system.split('## Pinned\n\n').at(-1)?.match(/^- /gm)?.length ?? 0,
    skills: () => linesIn(memory, 'skills'),
    facts: () => linesIn(memory, 'facts'),
    news: () => linesIn(tail, 'facts'),
    recall: () => linesIn(tail, 'recall'),
    checkpoint: () => (tail.includes(`<${fence} checkpoint>`) ? 1 : 0),
  }
  for (const use of listIn(receipt, 'remembered')) {
    const [name, items] = [textIn(use, 'name'), numberIn(use, 'items')]
    const found = counted[name]?.() ?? items
    // What a document says may look like a pin.
    if (found !== items && !(name === 'pins' && items === 0))
      broken.push(`receipt: ${items} of ${name} are named, and ${found} are there`)
  }
  const summary = field(receipt, 'summary')
  const told = memory.split(`<${fence} data>\n`)[1] ?? ''
  const holds = /^\[summary #(\d+) of \d+ earlier messages\]\n/.exec(told)?.[1]
  const place = isObject(summary) ? String(plain(summary.place)) : undefined
  if (holds !== place) broken.push(`receipt: summary ${place} is named, and ${holds} is there`)
  const epoch = field(receipt, 'epoch')
  if (isObject(epoch) && epoch.id !== context.epoch) broken.push('receipt: another epoch is named')
  return broken
}
