/** The look of what Markdown makes, over the custom properties of the view. */
export const proseStyle = `
figure, pre, blockquote { margin: 0 }
.prose { display: grid; gap: 0.75rem; min-inline-size: 0 }
.prose > * { min-inline-size: 0 }
.prose :is(h1, h2, h3, h4, h5, h6) { margin: 0.25rem 0 0; font-size: 1rem; font-weight: 650; line-height: 1.35 }
.prose h1 { font-size: 1.1875rem }
.prose h2 { font-size: 1.0625rem }
.prose :is(ul, ol) { padding-inline-start: 1.375rem }
.prose ul { list-style: disc }
.prose ol { list-style: decimal }
.prose li + li, .prose li > :is(ul, ol) { margin-block-start: 0.25rem }
.prose li::marker { color: var(--muted) }
.prose li:has(> input) { list-style: none; margin-inline-start: -1.25rem }
.prose a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.2em }
.prose blockquote { padding-inline-start: 0.875rem; border-inline-start: 3px solid var(--line); color: var(--muted) }
.prose hr { inline-size: 100%; margin: 0.25rem 0; border: 0; border-block-start: 1px solid var(--line) }
.prose :not(pre) > code { padding: 0.1em 0.35em; border-radius: 0.3125rem; background: var(--raised); font: 0.875em var(--mono) }
.prose .table { overflow-x: auto; border: 1px solid var(--line); border-radius: 0.625rem }
.prose table { inline-size: 100%; border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums }
.prose :is(th, td) { overflow-wrap: normal; padding: 0.4375rem 0.75rem; border-block-end: 1px solid var(--line); text-align: start; vertical-align: top }
.prose th { background: var(--raised); font-size: 0.8125rem; font-weight: 620 }
.prose [align='right'] { text-align: end }
.prose [align='center'] { text-align: center }
.prose tr:last-child > td { border-block-end: 0 }
.code { overflow: hidden; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--raised); direction: ltr; text-align: left }
.code figcaption { display: flex; align-items: center; justify-content: space-between; padding-inline: 0.875rem 0.375rem; border-block-end: 1px solid var(--line); color: var(--muted); font-size: 0.75rem }
.code figcaption .icon { inline-size: 1rem; block-size: 1rem }
.code figcaption button { margin-block: 0.125rem }
.code pre { overflow-x: auto; padding: 0.75rem 0.875rem; font: 0.8125rem/1.6 var(--mono); tab-size: 2 }
.hljs-comment, .hljs-quote, .hljs-meta { color: var(--muted) }
.hljs-keyword, .hljs-selector-tag, .hljs-literal, .hljs-section, .hljs-doctag { color: light-dark(#7a2f8f, #d7a3ee) }
.hljs-string, .hljs-regexp, .hljs-addition, .hljs-symbol { color: light-dark(#276338, #92d3a2) }
.hljs-number, .hljs-attr, .hljs-attribute, .hljs-variable, .hljs-template-variable { color: light-dark(#8a4a06, #f0bd84) }
.hljs-title, .hljs-name, .hljs-built_in, .hljs-type, .hljs-selector-class { color: light-dark(#14598c, #8ec8f0) }
.hljs-deletion { color: var(--danger) }
.hljs-emphasis { font-style: italic }
.hljs-strong { font-weight: 650 }
`
