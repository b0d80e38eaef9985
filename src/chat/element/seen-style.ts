/**
 * The look of what only the panel of a request has, over the custom properties of the view.
 * Sections have the colours that they have in the inspector.
 */
export const seenStyle = `
.seen { --of-tools: light-dark(#77818a, #83919c); --of-system: light-dark(#34495c, #b4c6d6); --of-memory: light-dark(#1d7f73, #3fb9a8); --of-window: light-dark(#2f74c0, #4f96e3); --of-tail: light-dark(#b86b00, #e2a13f); --of-request: light-dark(#a5afb6, #55636d) }
.seen .bar { inline-size: 100%; border-radius: 0.25rem 0 0 0.25rem; border-right: 3px solid var(--danger); background: var(--raised) }
:dir(rtl) > .bar { scale: -1 1 }
.of-tools { fill: var(--of-tools) }
.of-system { fill: var(--of-system) }
.of-memory { fill: var(--of-memory) }
.of-window { fill: var(--of-window) }
.of-tail { fill: var(--of-tail) }
.of-request { fill: var(--of-request) }
.swatch { flex: none; inline-size: 0.75rem; block-size: 0.75rem; border-radius: 0.1875rem }
.seen .card { display: block }
.seen .card > summary { flex-wrap: wrap; inline-size: auto; margin-inline: 0 }
.seen .card summary strong { color: var(--text) }
.seen .about { flex-basis: 100% }
.seen .icon-expand { margin-inline-start: 0.25rem }
.seen .stretches { display: grid; gap: 0.375rem; margin-block-start: 0.375rem }
.seen code, .seen pre { font: 0.75rem/1.5 var(--mono) }
.seen pre { max-block-size: 16rem; overflow: auto; margin-block: 0.375rem; padding: 0.5rem; border-radius: 0.5rem; background: var(--raised); white-space: pre-wrap; overflow-wrap: anywhere }
.seen .stretches dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.125rem 0.75rem }
.seen .stretches dt { color: var(--muted) }
.tool-steps { display: grid; gap: 0.25rem; margin-block: 0.375rem; font-size: 0.8125rem; line-height: 1.45; overflow-wrap: anywhere }
.tool-steps dt { font-weight: 600 }
.tool-steps ul { padding-inline-start: 0.75rem; border-inline-start: 2px solid var(--line) }
.tool-steps .name { color: var(--muted); font-weight: 400 }
.tool-steps .value { white-space: pre-wrap }
.tool-steps .long > summary { display: block; color: inherit }
.tool-steps .long[open] > summary > .value { display: none }
.terms dt { font-weight: 600 }
`
