/**
 * What the model will see: the next request, or the one that a reply answered, by its sections.
 * Loaded when it is first opened.
 */
import { html, nothing, svg, type TemplateResult } from 'lit/html.js'
import { SECTIONS, type Section, type Shown, type Stretch, showContext } from '../../inspector/model/shown.ts'
import type { InspectorSource } from '../../inspector/model/source.ts'
import { type ToolStep, toolSteps } from '../../inspector/model/tool-steps.ts'
import { checkedWords } from '../../inspector/strings/checked.ts'
import { loadStrings } from '../../inspector/strings/load.ts'
import type { Strings } from '../../inspector/strings/strings.ts'
import { opened, stepsTitle, stepsView, wholeText } from '../../inspector/view/steps-view.ts'
import { shorten, visible } from '../../replay/words.ts'
import { loaded } from '../homes/load.ts'
import { inspectedSource } from '../inspected-source.ts'
import type { Chat } from '../open-chat.ts'
import type { Inspected, Problem } from '../ports.ts'
import { iconButton } from './message.ts'
import { expandIcon } from './panel-icons.ts'
import { problemOf, wordsFor } from './problems.ts'
import type { PanelScene } from './scene.ts'

export { seenStyle } from './seen-style.ts'

/** Characters of a stretch that show before it is opened. */
const BEGINNING = 90

interface Seen {
  readonly strings: Strings
  /** Undefined: nothing was said yet. */
  readonly shown: Shown | undefined
  /** Names of the tools in it. */
  readonly tools: readonly string[]
  /** Of a request that was made: what came of checking it. */
  readonly checked: string | undefined
}

/**
 * Told of each drawing, also while it is closed: then it lets go of what it read, which may be
 * forgotten before it is opened again.
 *
 * @param draw draws the view again
 */
export function seenPanel(chat: Chat, draw: () => void): (scene: PanelScene) => TemplateResult | undefined {
  let asked: { readonly language: string; readonly sentFor: string | undefined }
  let readAt: readonly unknown[] = []
  let about = ''
  let readings = 0
  let seen: Seen | undefined
  let problem: Problem | undefined
  let followed: Inspected['session'] | undefined
  let unfollow: (() => void) | undefined
  const clear = (): void => {
    readings++
    readAt = []
    seen = undefined
    problem = undefined
    unfollow?.()
    followed = undefined
    unfollow = undefined
  }
  /** What another tab changes that no message here shows. An edge's conversation is followed. */
  const follow = ({ home, session }: Inspected, source: InspectorSource): void => {
    if (home !== 'local' || followed === session) return
    unfollow?.()
    followed = session
    unfollow = source.subscribe?.(() => void read())
  }
  const read = async (): Promise<void> => {
    const { language, sentFor } = asked
    const reading = ++readings
    try {
      const [strings, inspected] = await Promise.all([
        loaded(() => loadStrings(language)),
        chat.conversation.inspected(),
      ])
      const source = inspected && inspectedSource(inspected)
      const found = source && (await look(source, sentFor))
      if (reading !== readings) return
      seen = {
        strings,
        shown: found && showContext(found.context, 'openai'),
        tools: found?.context.tools?.map(({ name }) => name) ?? [],
        checked: found && checkedWords(strings, found),
      }
      problem = undefined
      if (source) follow(inspected, source)
    } catch (error) {
      if (reading !== readings) return
      // Nobody knows whether what was read before was forgotten since.
      seen = undefined
      problem = problemOf(error)
    }
    draw()
  }
  return (scene) => {
    const { words, ui, state, act } = scene
    if (ui.side !== 'seen') {
      clear()
      return undefined
    }
    asked = { language: words.language, sentFor: ui.sentFor }
    const subject = JSON.stringify([state.session?.sessionId, ui.sentFor, ui.openings])
    // A request that was made is another one, too, where something of it is forgotten.
    const now = [subject, words.language, state.messages]
    if (state.loaded && now.some((one, place) => one !== readAt[place])) {
      if (subject !== about) clear()
      about = subject
      readAt = now
      void read()
    }
    return html`<aside class="side memory seen" aria-label=${words.text(titleOf(scene))}>
      <header class="head">
        ${iconButton(words.text('back'), 'back', () => act.show(undefined))}
        <div class="titles"><h2>${words.text(titleOf(scene))}</h2></div>
      </header>
      <div class="body cards" aria-busy=${seen || problem ? 'false' : 'true'}>
        ${modelLine(scene)}
        ${problem ? html`<p class="state bad" role="status">${words.text(wordsFor(problem, state.online))}</p>` : nothing}
        ${seen ? seenView(seen, scene) : nothing}
      </div>
    </aside>`
  }
}

function titleOf({ ui }: PanelScene): 'seen' | 'sent' {
  return ui.sentFor === undefined ? 'seen' : 'sent'
}

/** Which model answered it, where its reply says so. */
function modelLine({ words, ui, state }: PanelScene): TemplateResult | typeof nothing {
  const asked = ui.sentFor && state.messages.findIndex(({ message }) => message.id === ui.sentFor)
  const reply = typeof asked === 'number' ? state.messages[asked + 1]?.message : undefined
  const { model } = (reply?.metadata?.usage ?? {}) as { readonly model?: string }
  return model ? html`<p class="muted small">${words.text('model')}: <bdi>${model}</bdi></p>` : nothing
}

/** @param id of the message that was the newest when the request was made; default: the next one */
async function look(source: InspectorSource, id: string | undefined) {
  return source.context(id ?? (await source.calls()).at(-1)?.id ?? '')
}

function seenView(seen: Seen, { words }: PanelScene): TemplateResult {
  const { strings, shown, checked } = seen
  if (!shown) return html`<p class="muted" role="status">${words.text('seenNothing')}</p>`
  const { used, cap, receipt } = shown
  const whole = Math.max(cap ?? 0, used, 1)
  const share = words.percent(used / whole)
  const sections = SECTIONS.filter((section) => shown.segments.some((one) => one.section === section))
  return html`
    ${
      cap === undefined
        ? html`<p>${strings.usedAlone(words.number(used))}</p>`
        : html`<p><strong>${strings.used(words.number(used), words.number(cap), share)}</strong></p>
            ${bar(shown, whole)}
            <p class="muted small">${strings.explained.line}</p>`
    }
    ${checked === undefined ? nothing : html`<p class="small" role="status">${checked}</p>`}
    ${sections.map((section) => sectionView(section, { ...seen, shown }, strings, words))}
    ${
      receipt
        ? html`<dl class="card small terms">
            <dt>${strings.floor} <b>${words.number(receipt.floor - receipt.margin)}</b></dt>
            <dd class="muted">${strings.explained.floor}</dd>
            <dt>${strings.epoch}</dt>
            <dd class="muted">${strings.explained.epoch}</dd>
          </dl>`
        : nothing
    }`
}

/** The sections against the line, for the eye: the list below says the same in words. */
function bar({ segments }: Shown, whole: number): TemplateResult {
  let from = 0
  return html`<svg class="bar" height="16" aria-hidden="true">
    ${segments.map(({ section, tokens }) => {
      const x = from
      from += tokens / whole
      return svg`<rect class="of-${section}" x="${x * 100}%" width="${(tokens / whole) * 100}%" height="16" />`
    })}
  </svg>`
}

function sectionView(
  section: Section,
  { shown, tools }: Seen & { readonly shown: Shown },
  strings: Strings,
  words: PanelScene['words'],
): TemplateResult {
  const { segments, stretches, text } = shown
  const steps = toolSteps(shown)
  const tokens = segments.find((one) => one.section === section)?.tokens ?? 0
  return html`<details class="card">
    <summary><svg class="swatch" aria-hidden="true"><rect class="of-${section}" width="100%" height="100%" /></svg>
      <strong>${strings.sections[section]}</strong> <span class="muted small">${strings.tokens(words.number(tokens))}</span>${expandIcon}
      <span class="muted small about">${strings.explained[section]}${section === 'tools' && tools.length > 0 ? html` <bdi>${tools.join(', ')}</bdi>` : nothing}</span></summary>
    <ul class="stretches">${stretches.map((stretch, place) =>
      stretch.section === section
        ? html`<li>${stretchView(stretch, steps[place] ?? [], text, strings, words)}</li>`
        : nothing,
    )}</ul>
  </details>`
}

function stretchView(
  { from, to, tokens, trust, rule, records }: Stretch,
  steps: readonly ToolStep[],
  text: string,
  strings: Strings,
  words: PanelScene['words'],
): TemplateResult {
  const whole = text.slice(from, to)
  const row = (term: string, value: unknown) => html`<dt>${term}</dt><dd>${value}</dd>`
  const bytes = () => html`<pre tabindex="0" dir="auto">${wholeText(whole, strings)}</pre>`
  const content = () => html`${
    steps.length > 0
      ? html`${stepsView(steps, strings)}<details class="small"><summary>${strings.asSent}${expandIcon}</summary><div ${opened(bytes)}></div></details>`
      : bytes()
  }
    <dl class="small">
      ${row(strings.stretch.tokens, words.number(tokens))}
      ${trust === undefined ? nothing : row(strings.stretch.trust, strings.trust[trust])}
      ${rule === undefined ? nothing : row(strings.stretch.rule, rule)}
      ${rule === undefined ? nothing : row(strings.stretch.record, records.length === 0 ? strings.stretch.none : html`<code>${records.map(visible).join(' ')}</code>`)}
    </dl>`
  return html`<details>
    <summary>${steps.length > 0 ? stepsTitle(steps, strings) : html`<code dir="auto">${visible(shorten(whole, BEGINNING))}</code>`}</summary>
    <div ${opened(content)}></div>
  </details>`
}
