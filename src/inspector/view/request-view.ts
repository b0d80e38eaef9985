import { html, nothing, type TemplateResult } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import type { LeftOut, Shown, Stretch } from '../model/shown.ts'
import { type ToolStep, toolSteps } from '../model/tool-steps.ts'
import { fillOf } from './drawing.ts'
import { opened } from './opened.ts'
import { stepsTitle, stepsView } from './steps-view.ts'
import type { Words } from './words.ts'

export interface RequestParts {
  readonly shown: Shown
  /** Place of the stretch whose origin is shown. */
  readonly picked: number
  readonly pick: (stretch: number) => void
}

/** Every stretch of the request, and where the picked one comes from. */
export function requestView({ shown, picked, pick }: RequestParts, words: Words): TemplateResult {
  const { strings, count, body } = words
  const { stretches, text } = shown
  const steps = toolSteps(shown)
  const current = Math.min(picked, stretches.length - 1)
  const bytesOf = ({ from, to }: Stretch) => html`<code dir="auto">${body(text.slice(from, to))}</code>`
  const keys = (event: KeyboardEvent): void => {
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: stretches.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(stretches.length - 1, to))
    pick(next)
    const list = event.currentTarget as Element
    list.querySelectorAll<HTMLElement>('[role=option]')[next]?.focus()
  }
  return html`
    <p class="small quiet" id="request-hint">${strings.requestHint}</p>
    <div class="request">
      <ul
        class="stretches"
        role="listbox"
        aria-label=${strings.requestLabel}
        aria-describedby="request-hint"
        @keydown=${keys}
      >
        ${stretches.map(
          (stretch, index) => html`
            <li
              class="stretch"
              role="option"
              tabindex=${index === current ? 0 : -1}
              aria-selected=${index === current}
              @focus=${() => pick(index)}
              @pointerenter=${() => pick(index)}
            >
              <svg aria-hidden="true"><rect width="100%" height="100%" fill=${fillOf(stretch.section)} /></svg>
              ${steps[index]?.length ? html`<span>${stepsTitle(steps[index], strings)}</span>` : bytesOf(stretch)}
              <span class="weight">${count(stretch.tokens)}</span>
            </li>
          `,
        )}
      </ul>
      <div class="origin">
        ${originView(stretches[current], words)}
        ${stretches[current] && steps[current]?.length ? keyed(stretches[current], readView(steps[current], bytesOf(stretches[current]), strings)) : nothing}
      </div>
    </div>
  `
}

/** What tools were given and gave, as people read it; the bytes stay one click away. */
function readView(
  steps: readonly ToolStep[],
  bytes: TemplateResult,
  strings: Words['strings'],
): TemplateResult {
  return html`${stepsView(steps, strings)}
    <details class="bytes"><summary>${strings.asSent}</summary><div ${opened(() => bytes)}></div></details>`
}

function originView(stretch: Stretch | undefined, words: Words): TemplateResult {
  const { strings, count, label } = words
  if (!stretch) return html`<p>${strings.stretch.pick}</p>`
  const { section, rule, records, tokens, trust, path, role } = stretch
  const row = (term: string, value: unknown) => html`<dt>${term}</dt><dd>${value}</dd>`
  return html`
    <section aria-live="polite">
      <h3>${strings.sections[section]}</h3>
      <dl>
        ${path === undefined ? nothing : row(strings.stretch.place, [path, role].filter(Boolean).join(' '))}
        ${
          rule === undefined
            ? nothing
            : row(
                strings.stretch.record,
                records.length === 0
                  ? strings.stretch.none
                  : records.map((id) => html`<span class="mono">${label(id)}</span> `),
              )
        }
        ${rule === undefined ? nothing : row(strings.stretch.rule, rule)}
        ${row(strings.stretch.tokens, count(tokens))}
        ${trust === undefined ? nothing : row(strings.stretch.trust, strings.trust[trust])}
      </dl>
    </section>
  `
}

/** A tab without anything in it: why that is, and what fills it. */
export function emptyTab(text: string): TemplateResult {
  return html`<p class="unfilled quiet">${text}</p>`
}

/** What is not in the request, or shorter than it is, and why. */
export function leftOutView({ leftOut, receipt }: Shown, words: Words): TemplateResult {
  const { strings } = words
  if (!receipt) return emptyTab(strings.leftUnknown)
  if (leftOut.length === 0) return emptyTab(strings.nothingLeft)
  return html`<ul class="left">${leftOut.map((part) => leftOutItem(part, words))}</ul>`
}

function leftOutItem(
  { reason, count: many, from, to, first = [], tokens }: LeftOut,
  words: Words,
): TemplateResult {
  const { strings, count, label } = words
  const isRange = from !== undefined && to !== undefined && from !== to
  const named = [...(from === undefined ? [] : [from]), ...first].map((id) => label(id, 40))
  const ids = isRange ? strings.range(label(from, 40), label(to, 40)) : named.join(' ')
  return html`
    <li>
      <span><strong>${strings.reasons[reason]}</strong> ${strings.leftCount(count(many))}</span>
      <span class="quiet">
        ${ids === '' ? nothing : html`<span class="mono">${ids}</span>`}
        ${tokens === undefined ? nothing : strings.leftTokens(count(tokens))}
      </span>
    </li>
  `
}
