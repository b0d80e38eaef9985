import { css } from 'lit'

/**
 * Colours come as custom properties, so that an app can set its own; all pairs of text and ground
 * pass WCAG 2.2 AA in both schemes.
 */
export const styles = css`
  :host {
    --ground: var(--plimsoll-ground, light-dark(#f4f5f2, #10161b));
    --surface: var(--plimsoll-surface, light-dark(#ffffff, #171f26));
    --sunk: var(--plimsoll-sunk, light-dark(#eceee9, #0b1014));
    --ink: var(--plimsoll-ink, light-dark(#15212b, #e4eaee));
    --quiet: var(--plimsoll-quiet, light-dark(#4d5b66, #a0afba));
    --edge: var(--plimsoll-edge, light-dark(#d4d9d6, #2c3840));
    --firm: light-dark(#76848e, #6f808c);
    --line: var(--plimsoll-line, light-dark(#c2260f, #ff6f52));
    --accent: var(--plimsoll-accent, light-dark(#0b5fa5, #6db8f5));
    --tools: light-dark(#77818a, #83919c);
    --system: light-dark(#34495c, #b4c6d6);
    --memory: light-dark(#1d7f73, #3fb9a8);
    --window: light-dark(#2f74c0, #4f96e3);
    --tail: light-dark(#b86b00, #e2a13f);
    --request: light-dark(#a5afb6, #55636d);
    --mono: var(--plimsoll-mono, ui-monospace, 'SF Mono', 'Cascadia Mono', 'Roboto Mono', monospace);
    display: block;
    container-type: inline-size;
    box-sizing: border-box;
    color-scheme: light dark;
    color: var(--ink);
    background: var(--ground);
    font: 400 0.875rem/1.45 var(--plimsoll-font, ui-sans-serif, system-ui, sans-serif);
    font-variant-numeric: tabular-nums;
    text-align: start;
  }
  :host([hidden]) {
    display: none;
  }
  *,
  *::before {
    box-sizing: border-box;
  }
  .frame {
    position: relative;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 1rem;
    max-inline-size: 90rem;
    margin-inline: auto;
    padding: clamp(0.75rem, 2cqi, 1.5rem);
  }
  h2,
  h3,
  p,
  dl,
  dd,
  ol,
  ul,
  figure {
    margin: 0;
    padding: 0;
  }
  ol,
  ul {
    list-style: none;
  }
  h2 {
    font-size: 0.9375rem;
    font-weight: 650;
    letter-spacing: -0.005em;
  }
  h3 {
    font-size: 0.8125rem;
    font-weight: 600;
  }
  .quiet {
    color: var(--quiet);
  }
  .small {
    font-size: 0.8125rem;
  }
  .mono {
    font-family: var(--mono);
    font-size: 0.8125rem;
    overflow-wrap: anywhere;
  }
  .hidden {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  svg {
    display: block;
    overflow: visible;
  }
  .defs {
    position: absolute;
  }

  /* What is pressed. */
  button,
  select,
  input,
  textarea {
    font: inherit;
    color: inherit;
  }
  button,
  select,
  .field input {
    min-block-size: 2.25rem;
    border: 1px solid var(--firm);
    border-radius: 0.375rem;
    background: var(--surface);
    padding: 0.25rem 0.75rem;
  }
  button {
    cursor: pointer;
  }
  button:hover {
    background: var(--sunk);
  }
  button:disabled {
    cursor: default;
    color: var(--quiet);
    border-color: var(--edge);
    background: none;
  }
  .primary {
    background: var(--ink);
    border-color: var(--ink);
    color: var(--surface);
  }
  .primary:hover {
    background: var(--quiet);
    border-color: var(--quiet);
  }
  .step {
    padding-inline: 0;
    inline-size: 2.25rem;
  }
  :host(:dir(rtl)) .step svg {
    transform: scaleX(-1);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  .field {
    display: inline-flex;
    align-items: center;
    gap: 0.5rem;
  }
  .field input {
    inline-size: 6.5rem;
    text-align: end;
  }
  select {
    max-inline-size: min(28rem, 60cqi);
    text-overflow: ellipsis;
  }

  /* The head. */
  /* What closes it stays in its corner, however the rest wraps. */
  .bar-top {
    display: flex;
    align-items: flex-start;
    gap: 0.75rem;
  }
  .of-log {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.5rem 0.75rem;
    min-inline-size: 0;
  }
  .bar-top h2 {
    display: flex;
    flex: 1 1 11rem;
    align-items: center;
    gap: 0.5rem;
    font-size: 1rem;
    min-inline-size: 0;
  }
  .name {
    font-weight: 400;
    color: var(--quiet);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    min-inline-size: 0;
  }
  .mark {
    color: var(--line);
    flex: none;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    align-items: center;
  }
  .work {
    display: flex;
    align-items: center;
    gap: 0.75rem;
  }
  progress {
    flex: 1;
    block-size: 0.375rem;
    appearance: none;
    border: 0;
    border-radius: 1rem;
    background: var(--edge);
    overflow: hidden;
    /* Else what is done and what is left have one ground. */
    forced-color-adjust: none;
  }
  progress::-webkit-progress-bar {
    background: var(--edge);
  }
  progress::-webkit-progress-value {
    background: var(--accent);
  }
  progress::-moz-progress-bar {
    background: var(--accent);
  }
  .notice {
    border-inline-start: 3px solid var(--line);
    padding: 0.5rem 0.75rem;
    background: var(--surface);
  }
  .notice summary {
    cursor: pointer;
  }

  /* Nothing is there yet. */
  .empty {
    display: grid;
    justify-items: center;
    align-content: center;
    gap: 0.75rem;
    min-block-size: 24rem;
    padding: 2rem 1rem;
    text-align: center;
    border: 1.5px dashed var(--firm);
    border-radius: 0.75rem;
    background: var(--surface);
  }
  .empty .mark {
    inline-size: 5.5rem;
    block-size: 5.5rem;
  }
  .empty h3 {
    font-size: 1.25rem;
    font-weight: 650;
    letter-spacing: -0.01em;
  }
  .empty p {
    max-inline-size: 34rem;
    text-wrap: balance;
  }
  .empty .actions {
    justify-content: center;
  }
  .unfilled {
    max-inline-size: 42rem;
    padding-block: 1.5rem;
  }
  .drop {
    position: absolute;
    inset: 0;
    z-index: 1;
    display: grid;
    place-items: center;
    border: 2px solid var(--accent);
    border-radius: 0.75rem;
    background: color-mix(in oklab, var(--surface) 88%, transparent);
    font-size: 1.125rem;
    font-weight: 600;
    pointer-events: none;
  }
  .paste {
    display: grid;
    gap: 0.5rem;
  }
  .paste textarea {
    inline-size: 100%;
    min-block-size: 8rem;
    border: 1px solid var(--firm);
    border-radius: 0.375rem;
    padding: 0.5rem;
    background: var(--surface);
    font-family: var(--mono);
    font-size: 0.8125rem;
  }

  /* The timeline: every call a column, the line across all of them. */
  .card {
    background: var(--surface);
    border: 1px solid var(--edge);
    border-radius: 0.625rem;
    padding: clamp(0.75rem, 1.6cqi, 1.25rem);
    min-inline-size: 0;
  }
  .hero {
    display: grid;
    gap: 0.75rem;
  }
  .heading {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    justify-content: space-between;
    gap: 0.25rem 1rem;
  }
  .big {
    font-size: clamp(1.375rem, 1rem + 1.6cqi, 2rem);
    font-weight: 650;
    letter-spacing: -0.02em;
    line-height: 1.15;
  }
  .big small {
    font-size: 0.9375rem;
    font-weight: 400;
    letter-spacing: 0;
    color: var(--quiet);
  }
  .timeline {
    display: block;
    inline-size: 100%;
    block-size: 11rem;
    cursor: pointer;
  }
  .scope {
    padding-inline: 1.5rem;
  }
  :host(:dir(rtl)) .flip {
    transform: scaleX(-1);
  }
  .water {
    fill: var(--sunk);
  }
  .load-line {
    stroke: var(--line);
    stroke-width: 1.75;
  }
  .plimsoll {
    fill: none;
    stroke: var(--line);
    stroke-width: 1.75;
  }
  .beyond {
    fill: var(--quiet);
  }
  .above {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1.5;
  }
  .chosen {
    fill: none;
    stroke: var(--ink);
    stroke-width: 1.5;
  }
  .compared {
    fill: none;
    stroke: var(--ink);
    stroke-width: 1.25;
    stroke-dasharray: 3 3;
  }
  .epoch-mark {
    fill: var(--ink);
  }
  .refused {
    stroke: var(--line);
    stroke-width: 1.5;
    fill: none;
  }
  .scrub {
    display: flex;
    align-items: center;
    gap: 0.5rem;
  }
  .scrub input {
    flex: 1;
    min-inline-size: 0;
    block-size: 2.25rem;
    margin: 0;
    accent-color: var(--ink);
    background: none;
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1.125rem;
    font-size: 0.8125rem;
  }
  .legend li {
    display: inline-flex;
    align-items: center;
    gap: 0.4375rem;
  }
  .legend svg {
    inline-size: 1.125rem;
    block-size: 0.875rem;
    flex: none;
  }
  .legend b {
    font-weight: 600;
  }
  .call-bar {
    inline-size: 100%;
    block-size: 3.25rem;
  }
  .cached {
    fill: var(--ink);
  }

  /* Facts of a call, each as wide as its words: a figure stands in one line with its unit. */
  .facts {
    display: flex;
    flex-wrap: wrap;
    gap: 0.75rem 1.75rem;
  }
  .facts .wide {
    flex-basis: 100%;
  }
  .facts dt {
    font-size: 0.75rem;
    color: var(--quiet);
  }
  .facts dd {
    overflow-wrap: anywhere;
  }
  .facts strong {
    font-weight: 600;
  }

  .explained {
    display: grid;
    gap: 0.25rem;
    margin-block-start: 0.5rem;
  }
  .explained dt {
    font-weight: 600;
  }

  /* The race. */
  .lanes {
    display: grid;
    gap: 0.875rem;
  }
  .lane {
    display: grid;
    grid-template-columns: minmax(9rem, 13rem) 1fr;
    gap: 0.125rem 1rem;
    align-items: center;
  }
  .lane h3 {
    grid-row: 1 / 3;
    align-self: start;
    padding-block-start: 0.125rem;
  }
  .lane:first-child h3 {
    color: var(--line);
  }
  .lane svg {
    inline-size: 100%;
    block-size: 1.25rem;
  }
  .lane-facts {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.875rem;
    font-size: 0.8125rem;
    color: var(--quiet);
  }
  .lane-facts strong {
    color: var(--ink);
    font-weight: 600;
  }
  .lane-facts .over {
    color: var(--line);
    font-weight: 600;
  }
  .lane details,
  .lane-note {
    grid-column: 2;
    font-size: 0.8125rem;
  }
  .lane-note {
    color: var(--quiet);
  }
  .lane summary {
    cursor: pointer;
    color: var(--quiet);
    inline-size: fit-content;
    max-inline-size: 100%;
  }
  .track {
    fill: var(--sunk);
  }
  .own {
    fill: var(--line);
  }

  /* Where two texts part. */
  .around {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.25rem 0.75rem;
    padding: 0.625rem 0.75rem;
    margin-block-start: 0.375rem;
    border-radius: 0.375rem;
    background: var(--sunk);
  }
  .around dt {
    color: var(--quiet);
    font-size: 0.8125rem;
  }
  .around dd {
    font-family: var(--mono);
    font-size: 0.75rem;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
    unicode-bidi: plaintext;
  }
  .around mark {
    background: none;
    color: inherit;
    font-weight: 650;
    text-decoration: underline 2px var(--line);
    text-underline-offset: 3px;
  }

  /* Tabs, and what is in them. */
  .tabs {
    display: flex;
    gap: 0.25rem;
    border-block-end: 1px solid var(--edge);
    flex-wrap: wrap;
  }
  .tabs button {
    border: 0;
    border-block-end: 2px solid transparent;
    border-radius: 0;
    background: none;
    color: var(--quiet);
    white-space: nowrap;
  }
  .tabs button:focus-visible {
    outline-offset: -3px;
  }
  .tabs button[aria-selected='true'] {
    color: var(--ink);
    font-weight: 600;
    border-block-end-color: var(--line);
  }
  .panel {
    padding-block-start: 0.875rem;
    display: grid;
    gap: 0.75rem;
  }
  .request {
    display: grid;
    gap: 1rem;
    grid-template-columns: minmax(0, 1fr);
  }
  @container (min-width: 60rem) {
    .request {
      grid-template-columns: minmax(0, 1fr) 19rem;
    }
    .origin {
      position: sticky;
      inset-block-start: 1rem;
    }
  }
  .stretches {
    max-block-size: 34rem;
    overflow: auto;
    border: 1px solid var(--edge);
    border-radius: 0.375rem;
    background: var(--sunk);
  }
  .stretch {
    position: relative;
    display: grid;
    grid-template-columns: minmax(0, 1fr) max-content;
    gap: 0 0.625rem;
    padding-block: 0.375rem;
    padding-inline: 0.875rem 0.625rem;
    content-visibility: auto;
    contain-intrinsic-size: auto 3.5rem;
    border-block-end: 1px solid var(--edge);
    cursor: default;
  }
  .stretch:focus-visible {
    outline-offset: -2px;
  }
  .stretch[aria-selected='true'] {
    background: var(--surface);
  }
  .stretch svg {
    position: absolute;
    inset-block: 0;
    inset-inline-start: 0;
    inline-size: 0.3125rem;
    block-size: 100%;
  }
  .request code {
    font-family: var(--mono);
    font-size: 0.75rem;
    line-height: 1.5;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    unicode-bidi: plaintext;
  }
  .stretch[aria-selected='false'] code {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 4;
    line-clamp: 4;
    overflow: hidden;
  }
  .stretch .weight {
    font-size: 0.75rem;
    color: var(--quiet);
  }
  .origin {
    align-self: start;
    display: grid;
    gap: 0.5rem;
    padding: 0.75rem;
    border-radius: 0.375rem;
    background: var(--sunk);
  }
  .origin section {
    display: grid;
    gap: 0.5rem;
  }
  .origin section dl {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.375rem 0.875rem;
  }
  .origin section dt {
    color: var(--quiet);
    font-size: 0.8125rem;
  }
  .tool-steps {
    display: grid;
    gap: 0.25rem;
    font-size: 0.8125rem;
    overflow-wrap: anywhere;
  }
  .tool-steps dt {
    font-weight: 600;
  }
  .tool-steps ul {
    padding-inline-start: 0.75rem;
    border-inline-start: 2px solid var(--edge);
  }
  .tool-steps .name {
    color: var(--quiet);
  }
  .tool-steps .value {
    white-space: pre-wrap;
  }
  .tool-steps summary,
  .bytes > summary {
    cursor: pointer;
  }
  .tool-steps .long[open] > summary > .value {
    display: none;
  }
  .left li,
  .changes li {
    display: grid;
    grid-template-columns: minmax(11rem, 1fr) minmax(0, 2fr);
    gap: 0.125rem 1rem;
    padding-block: 0.5rem;
    border-block-end: 1px solid var(--edge);
  }
  .changes {
    max-block-size: 30rem;
    overflow: auto;
    border: 1px solid var(--edge);
    border-radius: 0.375rem;
  }
  .changes li {
    grid-template-columns: 4.5rem 9rem minmax(0, 1fr);
    padding-inline: 0.625rem;
    font-size: 0.8125rem;
    content-visibility: auto;
    contain-intrinsic-size: auto 2.25rem;
  }
  .changes span {
    overflow-wrap: anywhere;
  }
  .changes .rest {
    grid-column: 1 / -1;
  }
  .changes [data-change='added'],
  .changes [data-change='again'] {
    background: color-mix(in oklab, var(--window) 9%, transparent);
  }
  .changes [data-change='gone'] {
    background: color-mix(in oklab, var(--line) 8%, transparent);
  }
  .changes [data-change='gone'] .mono {
    text-decoration: line-through;
  }
  .paid {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1.5rem;
  }
  @container (max-width: 40rem) {
    .lane,
    .left li {
      grid-template-columns: minmax(0, 1fr);
    }
    .lane h3 {
      grid-row: auto;
    }
    .lane details,
    .lane-note {
      grid-column: 1;
    }
    .changes li {
      grid-template-columns: 4rem minmax(0, 1fr);
    }
    .changes .mono {
      grid-column: 1 / -1;
    }
    .name {
      max-inline-size: 60cqi;
    }
  }
  @container (max-width: 24rem) {
    .tabs {
      gap: 0;
    }
    .tabs button {
      flex: auto;
      padding-inline: 0.25rem;
    }
  }
  @media (forced-colors: active) {
    .stretch[aria-selected='true'],
    .tabs button[aria-selected='true'] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }
`
