/** Counts what histories reached, so that a generator that misses a place is seen. */
import { field, isObject, type Json, listIn, textIn } from './json.ts'
import { type Result, type Step, shownIn } from './play.ts'

/** What any 500 histories must reach. */
export const REQUIRED: readonly string[] = [
  ...['start', 'window', 'budget', 'head', 'late', 'rewind', 'forget', 'manual'].map((one) => `cause ${one}`),
  ...['system', 'memory', 'verbatim', 'capped', 'opening', 'abandoned', 'empty', 'tail', 'continue'].map(
    (one) => `rule ${one}`,
  ),
  ...['window', 'orphan', 'duplicate', 'empty', 'rewound', 'forgotten', 'unreadable'].map(
    (one) => `omitted ${one}`,
  ),
  ...['preview', 'unsaved'].map((one) => `epoch ${one}`),
  ...['profile', 'pins', 'skills', 'facts', 'loaded-skills', 'news', 'recall', 'checkpoint'].flatMap(
    (one) => [`shown ${one}`, `overflow ${one}`],
  ),
  ...['epoch', 'facts', 'profile', 'skills', 'recall', 'checkpoint', 'extract', 'onCut'].map(
    (one) => `failure ${one}`,
  ),
  ...['scripted', 'extract'].map((one) => `summary by ${one}`),
  ...['summarised', 'refused'].map((one) => `compact ${one}`),
  ...[
    'calibration',
    'summary',
    'lost',
    'squeeze',
    'foldOpener',
    'capOpener',
    'oldBefore',
    'withheld',
    'readFrom',
  ],
]

export class Coverage {
  readonly counts = new Map<string, number>()

  add({ steps }: Result): void {
    for (const step of steps) this.#addStep(step)
  }

  /** What of the required was not reached; each command must have succeeded once. */
  missing(kinds: Iterable<string>): readonly string[] {
    return [...REQUIRED, ...[...kinds].map((kind) => `done ${kind}`)].filter((one) => !this.counts.has(one))
  }

  /** All counts, a line for each first word. */
  told(): string {
    const groups = new Map<string, string[]>()
    for (const [name, count] of [...this.counts].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const [group = '', ...rest] = name.split(' ')
      groups.set(group, [...(groups.get(group) ?? []), `${rest.join(' ') || group} ${count}`])
    }
    return [...groups].map(([group, counts]) => `  ${group}: ${counts.join(', ')}`).join('\n')
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  #addStep(step: Step): void {
    const { command, outcome, events, raced } = step
    const error = 'error' in outcome ? textIn(outcome.error, 'code') : undefined
    this.#count(`${error === undefined ? 'done' : 'failed'} ${command.kind}`)
    if (error !== undefined) this.#count(`code ${error}`)
    for (const one of raced ?? []) this.#addStep(one)
    if (raced) this.#count('raced')
    for (const event of events) this.#addEvent(event)
    const context = shownIn(step)
    if (context) this.#addContext(context)
    if (command.kind === 'rows' && 'ok' in outcome) this.#addRows(outcome.ok)
  }

  #addEvent(event: Json): void {
    const type = textIn(event, 'type')
    this.#count(`event ${type}`)
    if (type === 'compact') this.#count(`compact ${textIn(event, 'status')}`)
    if (type === 'asked') this.#count(`answer ${textIn(event, 'answer')}`)
    for (const reason of listIn(event, 'reasons'))
      this.#count(
        `refusal ${String(reason)
          .replace(/[\d“”].*/, '')
          .slice(0, 40)
          .trim()}`,
      )
  }

  #addContext(context: Json): void {
    const receipt = field(context, 'receipt')
    const epoch = field(receipt, 'epoch')
    this.#count(typeof epoch === 'string' ? `epoch ${epoch}` : `cause ${textIn(epoch, 'cause')}`)
    for (const block of listIn(context, 'blocks')) this.#count(`rule ${textIn(block, 'rule')}`)
    for (const range of listIn(receipt, 'omitted')) this.#count(`omitted ${textIn(range, 'reason')}`)
    for (const use of listIn(receipt, 'remembered')) {
      const name = textIn(use, 'name')
      if (field(use, 'items') !== 0) this.#count(`shown ${name}`)
      if (field(field(use, 'overflow'), 'count') !== 0) this.#count(`overflow ${name}`)
    }
    for (const one of listIn(receipt, 'failures')) this.#count(`failure ${textIn(one, 'part')}`)
    if (field(receipt, 'calibration') !== undefined) this.#count('calibration')
    const summary = field(receipt, 'summary')
    if (!isObject(summary)) return
    this.#count('summary')
    this.#count(`summary by ${textIn(summary, 'by')}`)
    if (field(summary.lost, 'count') !== 0) this.#count('lost')
  }

  /** What epochs froze. */
  #addRows(stores: Json): void {
    for (const row of listIn(stores).flatMap((store) =>
      listIn(store).flatMap((scope) => listIn(scope, 'log')),
    )) {
      const body = field(row, 'body')
      this.#count(`row ${textIn(row, 'kind')}`)
      if (field(row, 'applied') === false) this.#count('inert')
      if (textIn(body, 'type') !== 'epoch') continue
      for (const name of ['withheld', 'readFrom', 'calibration'])
        if (field(body, name) !== undefined) this.#count(name)
      const cuts = field(body, 'cuts')
      if (isObject(cuts)) for (const name of Object.keys(cuts)) this.#count(name)
    }
  }
}
