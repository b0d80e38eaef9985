/** Calls of tools and their results as people read them; the widget's panel shows them, too. */
import { html, type TemplateResult } from 'lit/html.js'
import { visible } from '../../replay/words.ts'
import type { ToolStep } from '../model/tool-steps.ts'
import type { Strings } from '../strings/strings.ts'
import { opened } from './opened.ts'

export { opened }

/** UTF-16 units of a text that show before all of it is asked for. */
const BEGINNING = 300
/** UTF-16 units that one click shows: the rest takes another one, which says how many those are. */
const LONGEST = 20_000
/** Members that are made at once, on all levels together, and how deep they are told apart. */
const MOST_MEMBERS = 300
const DEEPEST = 6

/** Members that may still be made. */
interface Room {
  members: number
}

/** What a stretch with tools is called: each call and each result in it. */
export function stepsTitle(steps: readonly ToolStep[], strings: Strings): string {
  return steps.flatMap((step) => (step.kind === 'text' ? [] : titleOf(step, strings))).join(' · ')
}

/** Each call with its arguments, each result: `name: value`, nested ones indented. */
export function stepsView(steps: readonly ToolStep[], strings: Strings): TemplateResult {
  const room = { members: MOST_MEMBERS }
  return html`<dl class="tool-steps">${steps.map((step) =>
    step.kind === 'text'
      ? html`<dd>${textView(step.value, strings)}</dd>`
      : html`<dt>${titleOf(step, strings)}</dt><dd>${valueView(step.value, strings, 1, room)}</dd>`,
  )}</dl>`
}

function titleOf({ kind, tool }: Exclude<ToolStep, { kind: 'text' }>, strings: Strings): string {
  // The name is of its own direction.
  const title = { call: strings.toolCall, result: strings.toolResult, error: strings.toolError }[kind]
  return title(`\u2068${visible(tool)}\u2069`)
}

function valueView(value: unknown, strings: Strings, depth: number, room: Room): TemplateResult {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (members.length === 0 || depth > DEEPEST)
    return textView(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), strings)
  return html`<ul>${membersView(members, strings, depth, room, Array.isArray(value))}</ul>`
}

function membersView(
  members: readonly (readonly [string, unknown])[],
  strings: Strings,
  depth: number,
  room: Room,
  isList: boolean,
): readonly TemplateResult[] {
  const made: TemplateResult[] = []
  for (const [name, member] of members) {
    if (room.members-- <= 0) break
    made.push(html`<li><bdi class="name">${isList ? Number(name) + 1 : visible(name)}:</bdi>
      ${valueView(member, strings, depth + 1, room)}</li>`)
  }
  const rest = members.slice(made.length)
  const more = () => html`<ul>${membersView(rest, strings, depth, { members: MOST_MEMBERS }, isList)}</ul>`
  if (rest.length > 0) made.push(html`<li>${moreView(rest.length, strings, more)}</li>`)
  return made
}

function textView(text: string, strings: Strings): TemplateResult {
  if (text.length <= BEGINNING) return html`<span class="value" dir="auto">${lines(text)}</span>`
  return html`<details class="long">
    <summary><span class="value" dir="auto">${lines(text.slice(0, BEGINNING))}…</span> <b>${strings.showAll}</b></summary>
    <span class="value" dir="auto" ${opened(() => wholeText(text, strings))}></span>
  </details>`
}

/** A text whose end, where it is long, shows at a further click. */
export function wholeText(text: string, strings: Strings): TemplateResult {
  const rest = text.slice(LONGEST)
  return html`${lines(text.slice(0, LONGEST))}${rest === '' ? '' : moreView(rest.length, strings, () => lines(rest))}`
}

/** @param count of what it shows */
function moreView(count: number, strings: Strings, content: () => unknown): TemplateResult {
  return html`<details><summary>${strings.showAll} (+${count.toLocaleString(strings.locale)})</summary><div ${opened(content)}></div></details>`
}

function lines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}
