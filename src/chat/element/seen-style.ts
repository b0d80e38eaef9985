/** The look of what only the panel of a request has, over the custom properties of the view. */
export const seenStyle = `
.seen { --of-tools: light-dark(#7a5195, #c29be0); --of-system: light-dark(#14598c, #7cc0ee); --of-memory: light-dark(#1d7a5f, #66d0ac); --of-window: light-dark(#b06a00, #eab15c); --of-tail: light-dark(#a8281f, #ff9d92); --of-request: light-dark(#66727f, #93a1af) }
.seen .bar { inline-size: 100%; border-start-start-radius: 0.25rem; border-end-start-radius: 0.25rem; border-inline-end: 3px solid var(--danger); background: var(--raised) }
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
.terms dt { font-weight: 600 }
`
