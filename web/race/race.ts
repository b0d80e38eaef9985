/**
 * The race of the first screen: one conversation under Plimsoll, under "send everything" and under
 * the optimum, call by call, with the bills so far. Loaded after the page shows.
 */
import { html, nothing, render, type TemplateResult } from 'lit/html.js'
import type { BilledCall, Bills } from '../../src/replay/bills.ts'
import { BILLED, chart, isRefused } from './chart.ts'
import { dollars } from './money.ts'
import type { OwnRace } from './own.ts'
import '../exhibit.css'
import './race.css'
import recorded from './recorded.json' with { type: 'json' }
import { type RaceWords, raceWords } from './words.ts'

/** For a million tokens of input that no cache holds. */
const DOLLARS = 3
/** From the first call to the last. */
const PLAY_MS = 9_000

const RECORDING: Run = { bills: recorded }

/** What is raced: the recording, or a file of the person who looks. */
interface Run {
  readonly bills: Bills
  readonly own?: OwnRace & { readonly name: string }
}

/** @param locale how its numbers are written */
export function raceView(language: string, locale: string): HTMLElement {
  const section = document.createElement('section')
  section.className = 'exhibit race'
  new RaceView(section, language, locale)
  return section
}

class RaceView {
  readonly #root: HTMLElement
  readonly #words: RaceWords
  readonly #number: Intl.NumberFormat
  readonly #locale: string
  #run = RECORDING
  /** The call that shows. */
  #call: number
  #frame: number | undefined
  #work: AbortController | undefined
  #failure = ''
  #isOver = false

  constructor(root: HTMLElement, language: string, locale: string) {
    this.#root = root
    this.#words = raceWords(language)
    this.#number = new Intl.NumberFormat(locale)
    this.#locale = locale
    this.#call = this.#last
    root.addEventListener('dragover', (event) => this.#drag(event, true))
    root.addEventListener('dragleave', (event) => this.#drag(event, false))
    root.addEventListener('drop', (event) => {
      this.#drag(event, false)
      const [file] = event.dataTransfer?.files ?? []
      if (file) void this.#play(file)
    })
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) this.#draw()
    else this.#start()
  }

  get #last(): number {
    return this.#run.bills.calls.full.length - 1
  }

  #dollars(amount: number): string {
    return dollars(amount, this.#locale)
  }

  get #title(): string {
    return this.#run.own ? this.#words.ownTitle : this.#words.title
  }

  /** Of the calls so far. What was not sent cost nothing, which is no bill. */
  #billOf(calls: readonly BilledCall[]): { readonly bill: string; readonly refused: string } {
    const count = calls.filter(isRefused).length
    const cost = calls.at(-1)?.cost ?? 0
    return {
      bill: count === calls.length ? '–' : this.#dollars((cost / 1e6) * DOLLARS),
      refused: count > 0 ? this.#words.refusals(this.#number.format(count), count) : '',
    }
  }

  /** That its figures are estimates, and what they assume. */
  get #assumed(): string {
    const { budget } = this.#run.bills
    return this.#words.assumed(this.#dollars(DOLLARS), this.#number.format(budget))
  }

  #draw(): void {
    render(this.#view(), this.#root)
  }

  #view(): TemplateResult {
    const words = this.#words
    const { bills, own } = this.#run
    const { budget, calls } = bills
    const tokens = (count: number): string => this.#number.format(count)
    const place = words.call(tokens(this.#call + 1), tokens(this.#last + 1))
    const rows = BILLED.map((name) => {
      const so = calls[name].slice(0, this.#call + 1)
      const sent = so.at(-1)?.tokens ?? 0
      const over = so.filter(({ tokens }) => tokens > budget).length
      const now = isRefused({ tokens: sent }) ? words.refused : tokens(sent)
      return { name, sent, now, over, ...this.#billOf(so) }
    })
    const value = [place, ...rows.map(({ name, now, bill }) => `${words[name]} ${now} · ${bill}`)]
    return html`
      <h3>${this.#title}</h3>
      ${chart(bills, this.#call, words.line(tokens(budget)))}
      ${
        this.#last === 0
          ? html`<p>${words.single}</p>`
          : html`<div class="race-scrub">
        <input type="range" min="0" max=${this.#last} .value=${String(this.#call)}
          aria-label=${this.#title} aria-valuetext=${value.join('; ')}
          @input=${({ target }: Event) => this.#show(Number((target as HTMLInputElement).value))} />
        <button type="button" @click=${() => this.#toggle()}>
          ${this.#frame === undefined ? words.play : words.pause}
        </button>
        <span class="race-place">${place}</span>
      </div>`
      }
      <table>
        <thead><tr><th scope="col">${words.policy}</th><th scope="col">${words.now}</th><th scope="col">${words.bill}</th></tr></thead>
        <tbody>${rows.map(
          ({ name, sent, now, bill, over, refused }) => html`<tr class=${name}>
            <th scope="row"><i aria-hidden="true"></i>${words[name]}</th>
            <td class=${sent > budget ? 'over' : ''}>${now}</td>
            <td><strong>${bill}</strong>${over > 0 ? html`<span class="over">${words.over(tokens(over), over)}</span>` : nothing}${refused ? html`<span class="over">${refused}</span>` : nothing}</td>
          </tr>`,
        )}</tbody>
      </table>
      <p class="race-note">
        ${own ? words.own(own.name, tokens(own.messages)) : words.source}
        ${own && own.played < own.messages ? words.first(tokens(own.played)) : nothing}
        ${this.#assumed} ${words.uncounted} ${words.optimumMeans} ${rows.some(({ refused }) => refused) ? words.refusedMeans : nothing}
      </p>
      <div class="race-drop ${this.#isOver ? 'taking' : ''}">
        <p><strong>${words.drop}</strong> ${words.stays}</p>
        <p role="status">${this.#work ? words.working : nothing}</p>
        ${this.#failure ? html`<p class="over" role="alert">${this.#failure}</p>` : nothing}
        <div class="exhibit-buttons">
          <button type="button" @click=${() => this.#choose()}>${words.choose}</button>
          ${own ? html`<button type="button" @click=${() => this.#race(RECORDING)}>${words.back}</button>` : nothing}
          <button type="button" @click=${() => void this.#save()}>${words.picture}</button>
        </div>
      </div>
    `
  }

  #show(call: number): void {
    this.#stop()
    this.#call = call
    this.#draw()
  }

  #toggle(): void {
    if (this.#frame === undefined) this.#start()
    else this.#show(this.#call)
  }

  /** From the call that shows, or from the first where that is the last. */
  #start(): void {
    const from = this.#call >= this.#last ? 0 : this.#call
    let began: number | undefined
    const step = (now: number): void => {
      // One that was taken off the page has nobody to show anything to.
      if (began !== undefined && !this.#root.isConnected) {
        this.#frame = undefined
        return
      }
      began ??= now
      const call = Math.min(this.#last, from + Math.floor(((now - began) / PLAY_MS) * this.#last))
      this.#frame = call < this.#last ? requestAnimationFrame(step) : undefined
      if (call === this.#call && this.#frame !== undefined) return
      this.#call = call
      this.#draw()
    }
    this.#frame = requestAnimationFrame(step)
    this.#call = from
    this.#draw()
  }

  #stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#frame = undefined
  }

  #race(run: Run): void {
    this.#stop()
    this.#run = run
    this.#call = this.#last
    this.#draw()
  }

  #drag(event: DragEvent, isOver: boolean): void {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    if (this.#isOver === isOver) return
    this.#isOver = isOver
    this.#draw()
  }

  #choose(): void {
    const input = document.createElement('input')
    input.type = 'file'
    input.accept = '.json,.jsonl,application/json'
    input.addEventListener('change', () => {
      const [file] = input.files ?? []
      if (file) void this.#play(file)
    })
    input.click()
  }

  async #play(file: File): Promise<void> {
    this.#work?.abort()
    const work = new AbortController()
    this.#work = work
    this.#failure = ''
    this.#draw()
    try {
      const { playFile } = await import('./own.ts')
      const own = await playFile(file, work.signal)
      if (own) this.#race({ bills: own.bills, own: { ...own, name: file.name } })
      else this.#failure = this.#words.nothing(file.name)
    } catch (error) {
      if (work.signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      this.#failure = `${this.#words.nothing(file.name)} (${reason})`
    }
    if (this.#work === work) this.#work = undefined
    this.#draw()
  }

  async #save(): Promise<void> {
    const { savePicture } = await import('./picture.ts')
    const { bills, own } = this.#run
    const words = this.#words
    const { budget, calls } = bills
    savePicture({
      bills,
      title: this.#title,
      line: words.line(this.#number.format(budget)),
      rows: BILLED.map((name) => {
        const { bill, refused } = this.#billOf(calls[name])
        return { name, label: words[name], bill: [bill, refused].filter(Boolean).join(' · ') }
      }),
      assumed: this.#assumed,
      // What a person's file is called is nobody else's business.
      source: own ? words.own('JSON', this.#number.format(own.messages)) : words.source,
      direction: document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr',
    })
  }
}
