import type { Budget, EpochCause, Receipt } from '../src/index.ts'
import { messagesIn, shortageIn } from './context-figures.ts'
import type { Shown } from './conversation.ts'
import { counted, figure, make } from './dom.ts'

const CAUSES: { readonly [Cause in EpochCause]?: string } = {
  start: 'the first of this conversation',
  head: 'begun because the instructions changed',
  window: 'begun because the window was full, and was cut back',
  budget: 'begun because the tail left too little room',
  late: 'begun because something was added late to an older round',
  rewind: 'begun because something was hidden or shown again',
  forget: 'begun because something behind the summary was deleted',
  manual: 'begun because it was asked for',
}

/** One stretch of the bar. */
interface Segment {
  /** Also the class that colours it. */
  readonly name: string
  readonly label?: string
  readonly tokens: number
}

/** The context of the next call, drawn as a bar against the line. */
export class ContextPanel {
  readonly #budget: Budget
  readonly #figure = make('p', 'figure')
  readonly #bar = make('div', 'bar')
  readonly #legend = make('ul', 'legend')
  readonly #messages = make('p', 'summary')
  readonly #epoch = make('p', 'summary')

  constructor(root: HTMLElement, budget: Budget) {
    this.#budget = budget
    this.#bar.role = 'img'
    root.append(this.#figure, this.#bar, this.#legend, this.#messages, this.#epoch)
  }

  show({ context }: Shown): void {
    if (!context) {
      this.#write('Reading the conversation', [], '', '')
      return
    }
    if (context instanceof Error) {
      const shortage = shortageIn(context)
      const least = shortage
        ? `The least context takes ${figure(shortage.floor)} tokens, and the line is at ${figure(shortage.cap)}. The next message begins a new round, and may fit.`
        : context.message
      this.#write('No context fits', [], least, '')
      return
    }
    const { receipt } = context
    const { shown, summarised, omitted } = messagesIn(context)
    const capped = receipt.sections.reduce((total, { overflow }) => total + overflow.count, 0)
    this.#write(
      `${figure(receipt.used)} of ${figure(receipt.cap)} tokens`,
      segmentsOf(receipt),
      `${counted(shown, 'message')} shown, ${summarised > 0 ? `${figure(summarised)} summarised, ` : ''}${figure(omitted)} left out${capped > 0 ? `, ${counted(capped, 'output')} shortened` : ''}.`,
      epochText(receipt),
    )
  }

  #write(title: string, segments: readonly Segment[], messages: string, epoch: string): void {
    const { contextWindow, maxOutputTokens } = this.#budget
    const percent = (tokens: number): string => `${(100 * tokens) / contextWindow}%`
    this.#figure.textContent = title
    this.#messages.textContent = messages
    this.#epoch.textContent = epoch
    const line = make('span', 'line')
    line.style.left = percent(contextWindow - maxOutputTokens)
    const stretches = segments.map(({ name, tokens }) => {
      const stretch = make('span', `segment ${name}`)
      stretch.style.width = percent(tokens)
      stretch.dataset.tokens = String(tokens)
      return stretch
    })
    this.#bar.replaceChildren(...stretches, line)
    const labels = segments.flatMap(({ name, label = name, tokens }) =>
      tokens > 0 ? { name, text: `${label} ${figure(tokens)}` } : [],
    )
    this.#bar.ariaLabel = [title, ...labels.map(({ text }) => text)].join(', ')
    const entries = labels.map(({ name, text }) => make('li', name, make('span', 'swatch'), text))
    const cap = figure(contextWindow - maxOutputTokens)
    this.#legend.replaceChildren(
      ...entries,
      make('li', 'line-entry', make('span', 'swatch'), `the line ${cap}`),
    )
  }
}

/** From the left end of the bar to its right end, without a gap. */
function segmentsOf({ sections, used, cap, margin, reserved }: Receipt): readonly Segment[] {
  const counted = sections.map(({ name, tokens }) => ({ name, tokens }))
  const framing = counted.reduce((rest, { tokens }) => rest - tokens, used)
  return [
    ...counted,
    { name: 'format', tokens: framing },
    { name: 'free', tokens: cap - margin - used },
    { name: 'margin', tokens: margin },
    { name: 'reply', label: 'kept for the reply', tokens: reserved },
  ]
}

function epochText({ epoch }: Receipt): string {
  if (epoch === 'preview') return 'The next call begins a new epoch.'
  if (epoch === 'unsaved') return 'The epoch could not be saved.'
  return `Epoch ${figure(epoch.place)}, ${CAUSES[epoch.cause] ?? epoch.cause}.`
}
