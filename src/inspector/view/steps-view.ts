/** Calls of tools and their results as people read them; the widget's panel shows them, too. */
import { html, type TemplateResult } from 'lit/html.js'
import { visible } from '../../replay/words.ts'
import type { ToolStep } from '../model/tool-steps.ts'
import type { Strings } from '../strings/strings.ts'

/** UTF-16 units of a text that show before all of it is asked for. */
const BEGINNING = 300
/** UTF-16 units of one that shows whole. */
const LONGEST = 20_000
/** Members of one value that show, and how deep they are told apart. */
const MOST_MEMBERS = 100
const DEEPEST = 6

/** What a stretch with tools is called: each call and each result in it. */
export function stepsTitle(steps: readonly ToolStep[], strings: Strings): string {
  return steps.flatMap((step) => (step.kind === 'text' ? [] : titleOf(step, strings))).join(' · ')
}

/** Each call with its arguments, each result: `name: value`, nested ones indented. */
export function stepsView(steps: readonly ToolStep[], strings: Strings): TemplateResult {
  return html`<dl class="tool-steps">${steps.map((step) =>
    step.kind === 'text'
      ? html`<dd>${textView(step.value, strings)}</dd>`
      : html`<dt>${titleOf(step, strings)}</dt><dd>${valueView(step.value, strings, 1)}</dd>`,
  )}</dl>`
}

function titleOf({ kind, tool }: Exclude<ToolStep, { kind: 'text' }>, strings: Strings): string {
  // The name is of its own direction.
  const title = { call: strings.toolCall, result: strings.toolResult, error: strings.toolError }[kind]
  return title(`\u2068${visible(tool)}\u2069`)
}

function valueView(value: unknown, strings: Strings, depth: number): TemplateResult {
  const isList = Array.isArray(value)
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (members.length === 0 || depth > DEEPEST)
    return textView(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), strings)
  return html`<ul>${members.slice(0, MOST_MEMBERS).map(
    ([name, member]) => html`<li><bdi class="name">${isList ? Number(name) + 1 : visible(name)}:</bdi>
      ${valueView(member, strings, depth + 1)}</li>`,
  )}${members.length > MOST_MEMBERS ? html`<li>…</li>` : ''}</ul>`
}

function textView(text: string, strings: Strings): TemplateResult {
  const body = (shown: string) => shown.split('\n').map(visible).join('\n')
  if (text.length <= BEGINNING) return html`<span class="value" dir="auto">${body(text)}</span>`
  return html`<details class="long">
    <summary><span class="value" dir="auto">${body(text.slice(0, BEGINNING))}…</span> <b>${strings.showAll}</b></summary>
    <span class="value" dir="auto">${body(text.slice(0, LONGEST))}</span>
  </details>`
}
