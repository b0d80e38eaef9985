/**
 * One conversation in two windows, and a plug between them. Both windows follow the service with
 * logs of their own; a script answers. Nothing is sent before somebody begins.
 */
import { html, nothing, render, type TemplateResult } from 'lit/html.js'
import { createClient } from '../../src/client/client.ts'
import type { Model } from '../../src/index.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import '../exhibit.css'
import './unplug.css'
import type { Device } from './device.ts'
import { type UnplugWords, unplugWords } from './words.ts'

const WORD_MS = 120
/** Characters of a hash that show. */
const SHOWN = 16

export function unplugView(language: string, locale: string): HTMLElement {
  const section = document.createElement('section')
  section.className = 'exhibit unplug'
  new UnplugView(section, unplugWords(language), new Intl.NumberFormat(locale))
  return section
}

class UnplugView {
  readonly #root: HTMLElement
  readonly #words: UnplugWords
  readonly #number: Intl.NumberFormat
  #isBusy = false
  #said = ''
  #failure = ''
  /** A guest of the service, of this demonstration alone. */
  #token = ''
  #devices: readonly Device[] = []
  /**
   * Where the plug is: -1 at the first window, 1 at the second, 0 at both. The slider and the
   * windows both follow the direction of writing.
   */
  #plug = 0

  constructor(root: HTMLElement, words: UnplugWords, number: Intl.NumberFormat) {
    this.#root = root
    this.#words = words
    this.#number = number
    this.#draw()
  }

  #draw(): void {
    const field = this.#root.querySelector('form input:focus')
    const isSeen = field !== null && isInSight(field)
    render(this.#view(), this.#root)
    // What grows above it would push it below the chat's composer.
    if (isSeen) field.scrollIntoView({ block: 'nearest' })
  }

  #view(): TemplateResult {
    const words = this.#words
    const isOpen = this.#devices.length > 0
    return html`
      <h3>${words.title}</h3>
      <p>${words.intro}</p>
      ${isOpen ? this.#desk() : nothing}
      <p role="status">${this.#said}</p>
      ${this.#failure ? html`<p class="over" role="alert">${this.#failure}</p>` : nothing}
      <div class="exhibit-buttons">
        ${
          isOpen
            ? html`<button type="button" ?disabled=${this.#isBusy} @click=${() => void this.#run(words.notErased, () => this.#erase())}>${words.erase}</button>`
            : html`<button type="button" ?disabled=${this.#isBusy} @click=${() => void this.#run(words.failed, () => this.#begin())}>${words.begin}</button>`
        }
      </div>
      <p>${words.note}</p>
    `
  }

  #desk(): TemplateResult {
    const words = this.#words
    const hashes = this.#devices.map(({ state }) => state.hash)
    const [first, second] = hashes
    const isSame = first === second && first !== ''
    const positions = this.#positions()
    const at = this.#plug + 1
    return html`<div class="desk">
        ${this.#window(0)}
        <div class="wire">
          <input type="range" min="-1" max="1" step="1" ?disabled=${this.#isBusy} .value=${String(this.#plug)}
            aria-label=${words.plug} aria-valuetext=${positions[at]}
            @input=${({ target }: Event) => this.#move(Number((target as HTMLInputElement).value))} />
          <p class="positions" aria-hidden="true">
            ${positions.map((position, place) => html`<span class=${place === at ? 'here' : ''}>${position}</span>`)}
          </p>
          <p>${words.hash}</p>
          ${hashes.map(
            (hash, place) => html`<p>${words.names[place]}
              <code class="hash ${isSame ? 'same' : ''}" dir="ltr">${hash.slice(0, SHOWN) || '–'}</code></p>`,
          )}
          <strong>${isSame ? words.same : first || second ? words.different : words.empty}</strong>
        </div>
        ${this.#window(1)}
      </div>`
  }

  #window(place: 0 | 1): TemplateResult {
    const words = this.#words
    const name = words.names[place]
    const device = this.#devices[place] as Device
    const { messages, coming, holder, waiting, isPluggedIn, isReplaced } = device.state
    const does = holder === 'held' ? words.answers : holder ? words.waitsFor(holder) : ''
    return html`<section class="window ${isPluggedIn ? '' : 'out'}" aria-label=${name}>
      <h4>${name}</h4>
      <p>${[isPluggedIn ? words.pluggedIn : words.unplugged, does].filter(Boolean).join(' ')}</p>
      <ol>
        ${messages.map((message) => html`<li class=${message.role} dir="auto">${textOf(message)}</li>`)}
        ${coming ? html`<li class="assistant coming" dir="auto">${coming}</li>` : nothing}
      </ol>
      <p class="replaced" role="status">${isReplaced ? words.replaced : ''}</p>
      <form @submit=${(event: Event) => this.#say(event, device)}>
        <input aria-label=${words.message} placeholder=${words.message} autocomplete="off" dir="auto" />
        <button>${words.send}</button>
      </form>
      <p class="waiting">${words.waiting(this.#number.format(waiting))}</p>
    </section>`
  }

  /** What the plug does at the first window, at both, and at the second. */
  #positions(): readonly string[] {
    const { bothIn, out, names } = this.#words
    return [out(names[1]), bothIn, out(names[0])]
  }

  #move(to: number): void {
    this.#plug = to
    for (const [place, device] of this.#devices.entries())
      device.plug(to === 0 || to === (place === 0 ? -1 : 1))
    this.#draw()
  }

  #say(event: Event, device: Device): void {
    event.preventDefault()
    const input = (event.currentTarget as HTMLFormElement).querySelector('input') as HTMLInputElement
    const text = input.value.trim()
    if (text === '') return
    input.value = ''
    device.say(text).catch((error: unknown) => this.#fail(this.#words.failed, error))
  }

  /** @param failed what is said where the task fails */
  async #run(failed: string, task: () => Promise<void>): Promise<void> {
    const wasOpen = this.#devices.length > 0
    this.#isBusy = true
    this.#failure = ''
    this.#said = ''
    this.#draw()
    try {
      await task()
    } catch (error) {
      this.#fail(failed, error)
    }
    this.#isBusy = false
    this.#draw()
    // The button that was pressed was disabled meanwhile, or is gone: the focus went with it.
    if (document.activeElement !== document.body) return
    const isBegun = !wasOpen && this.#devices.length > 0
    this.#root.querySelector<HTMLElement>(isBegun ? '[type=range]' : '.exhibit-buttons button')?.focus()
  }

  async #begin(): Promise<void> {
    const words = this.#words
    const [{ Device }, { token, userId }] = await Promise.all([
      import('./device.ts'),
      createClient({ baseUrl: '', token: '' }).guests.create(),
    ])
    this.#token = token
    this.#plug = 0
    const scope = { userId, sessionId: crypto.randomUUID() }
    // There before both windows ask to be told of what changes in it.
    await createClient({ baseUrl: '', token }).sessions.create({ sessionId: scope.sessionId })
    this.#devices = words.names.map(
      (name) =>
        new Device({
          name,
          url: location.origin,
          token,
          scope,
          model: script(words, this.#number),
          onChange: () => this.#draw(),
          onFailure: (error) => this.#fail(words.failed, error),
        }),
    )
  }

  /** Where it fails, the windows stay, and it can be tried again. */
  async #erase(): Promise<void> {
    const devices = this.#devices
    // What they sent after it would be kept again.
    for (const device of devices) device.plug(false)
    try {
      await createClient({ baseUrl: '', token: this.#token }).me.erase()
    } catch (error) {
      this.#move(this.#plug)
      throw error
    }
    await Promise.all(devices.map((device) => device.close()))
    this.#devices = []
    this.#said = this.#words.erased
  }

  #fail(said: string, error: unknown): void {
    this.#failure = `${said} (${error instanceof Error ? error.message : String(error)})`
    this.#draw()
  }
}

function isInSight(element: Element): boolean {
  const { x, y, width, height } = element.getBoundingClientRect()
  return document.elementFromPoint(x + width / 2, y + height / 2) === element
}

/** A script for both windows: it says how many messages it was shown. */
function script({ script }: UnplugWords, number: Intl.NumberFormat): Model {
  return {
    id: 'script',
    async *complete({ context }) {
      const count = context.blocks.filter(({ section }) => section === 'window').length
      const words = script(number.format(count))
      for (const text of words.match(/\s*\S+/g) ?? []) {
        await new Promise((resolve) => setTimeout(resolve, WORD_MS))
        yield { type: 'text', text }
      }
      yield { type: 'finish', message: { role: 'assistant', content: words }, reason: 'stop' }
    },
  }
}
