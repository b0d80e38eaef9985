/**
 * The look of what only the list of conversations and the panels have, over the custom properties
 * of the view.
 */
export const panelStyle = `
dl, dd, pre { margin: 0 }
label { display: grid; gap: 0.25rem; color: var(--muted); font-size: 0.8125rem }
label > * { color: var(--text) }
.editor { display: grid; gap: 0.5rem; inline-size: min(100%, 36rem) }
.editor textarea { inline-size: 100%; padding: 0.5rem 0.75rem; border: 1px solid color-mix(in oklab, var(--muted) 80%, var(--surface)); border-radius: 0.75rem; background: var(--surface); field-sizing: content; resize: none }
.editor textarea:focus { border-color: var(--accent); outline: 1px solid var(--accent); outline-offset: 0 }
.editor .row { justify-content: end }
.dropping .main::after { content: ''; position: absolute; inset: 0.375rem; z-index: 4; border: 2px dashed var(--accent); border-radius: 0.75rem; background: color-mix(in oklab, var(--accent) 12%, transparent); pointer-events: none }
.versions { display: inline-flex; align-items: center; font-variant-numeric: tabular-nums }
.steps { display: grid; gap: 0.25rem }
details > summary { display: flex; align-items: center; gap: 0.4375rem; inline-size: fit-content; max-inline-size: 100%; min-block-size: 1.75rem; padding: 0.125rem 0.5rem; margin-inline-start: -0.5rem; border-radius: 0.5rem; color: var(--muted); font-size: 0.8125rem; cursor: pointer; list-style: none; user-select: none }
details > summary::-webkit-details-marker { display: none }
details > summary:hover { background: color-mix(in oklab, var(--text) 6%, transparent); color: var(--text) }
details > summary .icon-expand { transition: rotate 0.2s var(--ease) }
details[open] > summary .icon-expand { rotate: 180deg }
details.failed > summary { color: var(--danger) }
.step > :is(dl, p) { display: grid; gap: 0.25rem; margin-block: 0.25rem 0.5rem; padding-inline-start: 0.75rem; border-inline-start: 2px solid var(--line); font-size: 0.8125rem }
.step dt { color: var(--muted); font-size: 0.75rem }
.step pre { max-block-size: 14rem; overflow: auto; padding: 0.5rem 0.625rem; border-radius: 0.5rem; background: var(--raised); font: 0.78125rem/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext }
details > summary .icon { inline-size: 0.9375rem; block-size: 0.9375rem }
.danger { min-block-size: 2.25rem; padding-inline: 0.875rem; border-radius: 0.625rem; font-weight: 550; background: var(--danger); color: var(--surface) }
.danger:hover:not(:disabled) { background: color-mix(in oklab, var(--danger) 88%, var(--text)) }
:where(.chat) [aria-disabled='true'] { opacity: 0.45 }
.small { font-size: 0.8125rem; line-height: 1.4 }
.side .body { overflow: hidden auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--line) transparent; padding: 0.75rem }
.nothing { padding: 2rem 1rem; color: var(--muted); font-size: 0.875rem; text-align: center; text-wrap: balance }
.field { inline-size: 100%; padding: 0.5rem 0.75rem; border: 1px solid color-mix(in oklab, var(--muted) 80%, var(--surface)); border-radius: 0.75rem; background: var(--surface) }
.field:focus { border-color: var(--accent); outline: 1px solid var(--accent); outline-offset: 0 }
.search { position: relative; margin-block-end: 0.625rem }
.search .icon { position: absolute; inset-block-start: 0.5625rem; inset-inline-start: 0.6875rem; color: var(--muted) }
.search .field { min-block-size: 2.25rem; padding-block: 0.3125rem; padding-inline: 2.25rem 0.25rem; border-radius: 1.25rem }
.search + [role] > p { flex-wrap: nowrap; padding: 0 0.625rem 0.625rem }
.entry { position: relative; display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center; border-radius: 0.625rem }
.entry:hover { background: var(--raised) }
.entry[aria-current] { background: var(--tint) }
.entry .open { display: grid; justify-content: stretch; justify-items: start; gap: 0; min-block-size: 2.75rem; padding: 0.375rem 0.625rem; text-align: start }
.entry .open:hover:not(:disabled) { background: none }
.entry .open > span { inline-size: 100% }
.entry .open span[dir] { overflow: hidden; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; text-align: left }
.entry .open:dir(rtl) span[dir] { text-align: right }
.entry .kept { display: flex; gap: 0.3125rem }
.entry .kept > [dir] { flex: 1 }
.entry .kept > [role] { display: flex; align-items: center; block-size: 1.4em }
.entry .kept .icon { inline-size: 0.8125rem; block-size: 0.8125rem }
.entry .tools { display: flex; padding-inline-end: 0.25rem }
.entry .tools button { color: var(--muted) }
@media (hover: hover) {
  .entry { grid-template-columns: minmax(0, 1fr) }
  .entry .tools { position: absolute; inset-inline-end: 0; opacity: 0; pointer-events: none }
  .entry:is(:hover, :focus-within) .tools { opacity: 1; pointer-events: auto }
  .entry:is(:hover, :focus-within) .open { padding-inline-end: 4.25rem }
}
.message:is(.sought, :focus-visible) { position: relative; outline: 0 }
.message:is(.sought, :focus-visible)::after { content: ''; position: absolute; inset: -0.25rem; border-radius: 0.5rem; outline: 2px solid var(--accent); pointer-events: none }
.message:is(.sought, :focus-visible):has(> .foot)::after { inset-block-end: -0.5625rem }
.confirm { display: grid; gap: 0.5rem; padding: 0.625rem; border-radius: 0.625rem; background: color-mix(in oklab, var(--danger) 8%, var(--surface)); font-size: 0.8125rem; overflow-wrap: anywhere }
.tabs { display: flex; gap: 0.125rem; margin: 0 0 0.75rem; border-block-end: 1px solid var(--line) }
.tabs button { flex: auto; min-block-size: 2.25rem; padding-inline: 0.25rem; border-radius: 0.5rem 0.5rem 0 0; color: var(--muted); font-size: 0.8125rem; font-weight: 550; white-space: nowrap }
.tabs button[aria-selected='true'] { color: var(--text); box-shadow: inset 0 -2px 0 var(--accent) }
.cards { display: grid; align-content: start; gap: 0.625rem }
.card { display: grid; gap: 0.5rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.875rem; overflow-wrap: anywhere }
.card h3 { font-size: 0.875rem; font-weight: 620; line-height: 1.4 }
.card.pinned { border-color: color-mix(in oklab, var(--accent) 45%, var(--line)) }
.card .labels { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.875rem; overflow: clip; overflow-clip-margin: 0.25rem; color: var(--muted); font-size: 0.75rem; line-height: 1.4 }
.card .labels > * { position: relative }
.card .labels > ::before { content: "·"; position: absolute; inset-inline-start: -0.5625rem; color: var(--muted) }
.card .labels button { gap: 0; min-block-size: 1.5rem; padding: 0; color: var(--accent); font-size: inherit; font-weight: 600 }
.card .acts { display: flex; flex-wrap: wrap; gap: 0.125rem; margin: -0.125rem -0.375rem -0.375rem }
.card .acts button { color: var(--muted); font-size: 0.75rem; font-weight: 550 }
.card .acts button:hover { color: var(--text) }
.card .acts .icon { inline-size: 0.9375rem; block-size: 0.9375rem }
.choice { grid-template-columns: minmax(0, 1fr) auto; justify-content: stretch; inline-size: 100%; text-align: start }
.choice[aria-pressed='true'] { border-color: var(--accent) }
.choice .small { grid-column: 1 / -1 }
:dir(rtl) > .icon-back, :dir(rtl) > .icon-forward { scale: -1 1 }
.certificate { display: grid; gap: 0.25rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--raised); font-size: 0.8125rem; line-height: 1.45 }
.certificate h3 { display: flex; align-items: center; gap: 0.375rem; font-size: 0.8125rem; font-weight: 620 }
.certificate ul { display: grid; gap: 0.25rem }
.certificate .icon { color: var(--accent) }
.forgetting { position: relative; margin-block-start: 0.75rem; inline-size: min(100%, 36rem) }
.forgetting > button { position: absolute; inset-block-start: 0.25rem; inset-inline-end: 0.25rem; color: var(--muted) }
.forgetting > p { display: flex; align-items: center; gap: 0.375rem; color: var(--danger); font-size: 0.75rem }
@container chat (inline-size < 57.6em) {
  .frame.covered > .main { visibility: hidden }
}
@container chat (inline-size >= 57.6em) {
  .frame.remembering { grid-template-columns: 18rem minmax(0, 1fr) 22rem }
  .side.sessions .entry:hover { background: color-mix(in oklab, var(--text) 6%, transparent) }
  .side.sessions .entry[aria-current] { background: color-mix(in oklab, var(--accent) 14%, var(--raised)) }
  .side.memory .said { display: none }
  .side.memory { grid-area: 1 / 3; border-inline-start: 1px solid var(--line) }
}
@media (forced-colors: active) {
  .danger { border: 1px solid ButtonText }
  .certificate, .confirm { border: 1px solid CanvasText }
  .entry { border: 2px solid Canvas }
  .entry[aria-current], .tabs [aria-selected='true'], .choice[aria-pressed='true'] { border: 2px solid Highlight }
}
`
