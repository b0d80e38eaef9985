/**
 * The look of the view. Colours, type and sizes are custom properties with a default; see the table
 * in docs/chat.md.
 */
export const viewStyle = `
.chat {
  --accent: var(--plimsoll-accent, light-dark(#14598c, #7cc0ee));
  --on-accent: var(--plimsoll-on-accent, light-dark(#fff, #06202f));
  --surface: var(--plimsoll-surface, light-dark(#fff, #12171c));
  --raised: var(--plimsoll-raised, light-dark(#f3f5f7, #1c232a));
  --text: var(--plimsoll-text, light-dark(#17202a, #e8edf2));
  --muted: var(--plimsoll-muted, light-dark(#566270, #9dabb9));
  --line: var(--plimsoll-line, light-dark(#dfe4e9, #2c353e));
  --danger: var(--plimsoll-danger, light-dark(#a8281f, #ff9d92));
  --tint: color-mix(in oklab, var(--accent) 10%, var(--surface));
  --mono: var(--plimsoll-mono, ui-monospace, Menlo, Consolas, monospace);
  --ease: cubic-bezier(0.2, 0.8, 0.2, 1);
  container: chat / inline-size;
  position: relative;
  display: grid;
  block-size: 100%;
  min-block-size: 0;
  overflow: clip;
  background: var(--surface);
  color: var(--text);
  font: 400 0.9375rem/1.55 var(--plimsoll-font, system-ui, sans-serif);
  text-align: start;
  letter-spacing: 0;
  -webkit-text-size-adjust: 100%;
}
*, ::before, ::after { box-sizing: border-box }
:placeholder-shown { direction: inherit }
[hidden] { display: none !important }
h2, h3, p, ul, ol { margin: 0 }
ul, ol { padding: 0; list-style: none }
button, input, textarea { font: inherit; color: inherit; letter-spacing: inherit }
:where(.chat) button {
  display: inline-flex; align-items: center; justify-content: center; gap: 0.375rem;
  min-inline-size: 1.75rem; min-block-size: 1.75rem; padding: 0.25rem 0.5rem;
  border: 0; border-radius: 0.5rem; background: none; cursor: pointer;
  transition: background-color 0.15s, color 0.15s, opacity 0.15s, transform 0.15s var(--ease);
}
:where(.chat) button:hover:not(:disabled) { background: color-mix(in oklab, var(--text) 8%, transparent) }
:where(.chat) button:active:not(:disabled) { transform: scale(0.96) }
:where(.chat) button:disabled { cursor: default; opacity: 0.45 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.icon, .mark { flex: none; inline-size: 1.125rem; block-size: 1.125rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round }
.icon-stop path { fill: currentColor }
.mark { inline-size: 1.5rem; block-size: 1.5rem; color: var(--accent) }
.mark .water { fill: currentColor; stroke: none; opacity: 0.28 }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.muted, .quiet, .head button, .notice .icon { color: var(--muted) }
.primary, .outlined { min-block-size: 2.25rem; padding-inline: 0.875rem; border-radius: 0.625rem }
.primary { font-weight: 550 }
.primary, .go { background: var(--accent); color: var(--on-accent) }
.primary:hover:not(:disabled), .go:hover:not(:disabled) { background: color-mix(in oklab, var(--accent) 88%, var(--text)) }
.outlined { box-shadow: inset 0 0 0 1px var(--line) }
.quiet:hover:not(:disabled), .quiet[aria-expanded='true'], .message .foot button:hover, .head button:hover, .head button[aria-expanded='true'] { color: var(--text) }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem }

.main { container-type: inline-size; position: relative; grid-area: 1 / 1; display: grid; grid-template: auto auto minmax(0, 1fr) auto / minmax(0, 1fr); min-block-size: 0 }
.head { display: flex; align-items: center; gap: 0.625rem; min-block-size: 3.75rem; padding: 0.375rem 0.75rem; border-block-end: 1px solid var(--line) }
.titles { flex: 1; min-inline-size: 0 }
.head h2 { font-size: 0.9375rem; font-weight: 620; line-height: 1.3 }
.home { display: flex; align-items: center; gap: 0.3125rem; color: var(--muted); font-size: 0.75rem }
.head h2, .home * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.titles:dir(rtl) > h2 { text-align: right }
.home .icon { inline-size: 0.8125rem; block-size: 0.8125rem }
.buttons { display: flex }
.more { display: contents }
.to-more, .head .label { display: none }
.head button, .go { inline-size: 2.25rem; block-size: 2.25rem; padding: 0 }
.head .badge { flex: none; display: block; inline-size: auto; max-inline-size: 8rem; block-size: 1.5rem; min-block-size: 1.5rem; line-height: 1.5rem; padding: 0 0.5rem; border-radius: 1rem; background: var(--tint); color: var(--accent); font-size: 0.6875rem; font-weight: 600 }
.notice { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.625rem; padding: 0.5rem 0.875rem; border-block-end: 1px solid var(--line); background: var(--raised); font-size: 0.8125rem; line-height: 1.45 }
.notice p { flex: 1 1 12rem }
.notice.bad { background: color-mix(in oklab, var(--danger) 8%, var(--surface)) }
.notice.bad .icon { color: var(--danger) }
.notice button { font-weight: 600 }

.reading { position: relative; display: grid; grid-template-rows: minmax(0, 1fr) auto; min-block-size: 0 }
.scroller { overflow: hidden auto; overflow-anchor: none; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--line) transparent; scrollbar-gutter: stable both-edges }
.list { display: flex; flex-direction: column; gap: 0.75rem; max-inline-size: 46rem; min-block-size: 100%; margin-inline: auto; padding: 1.25rem 0.75rem 1rem }
.edge, .day, .state, .chip, .name, .message .foot { color: var(--muted); font-size: 0.75rem }
.edge { text-align: center }
.day { display: flex; align-items: center; gap: 0.75rem; font-weight: 550 }
.day::before, .day::after { content: ''; flex: 1; border-block-start: 1px solid var(--line) }
.message { display: grid; gap: 0.375rem; min-inline-size: 0; overflow-wrap: anywhere }
.message:not(:has(*)) { display: none }
.message.user { justify-items: end }
.message.user .bubble { max-inline-size: min(85%, 36rem); padding: 0.5rem 0.875rem; border-radius: 1.125rem; border-end-end-radius: 0.375rem; background: var(--tint); white-space: pre-wrap }
.message .foot { display: flex; flex-wrap: wrap; align-items: center; gap: 0.125rem; min-block-size: 1.75rem; margin: -0.5rem -0.375rem -0.875rem }
.message .foot .icon, .state .icon, .chip .mark, .homes svg { inline-size: 1rem; block-size: 1rem }
.message .foot time { padding-inline: 0.375rem }
@media (hover: none) {
  .message:not(.last, :focus-within) .foot:not(.kept) { display: none }
}
@media (hover: hover) {
  .message .foot { opacity: 0; transition: opacity 0.15s }
  .message:hover .foot, .message:focus-within .foot, .message.last .foot, .message .foot.kept { opacity: 1 }
}
.state { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem }
.state.bad { color: var(--danger) }
.state.soon { animation: soon 1ms 2s backwards }
.chips { display: flex; flex-wrap: wrap; gap: 0.375rem }
.message.user .chips { justify-content: end }
.files { margin-block-end: 0.375rem }
.chip { display: inline-flex; align-items: center; gap: 0.375rem; max-inline-size: 100%; padding: 0.125rem 0.5rem; border-radius: 1rem; box-shadow: inset 0 0 0 1px var(--line); overflow-wrap: anywhere; animation: rise 0.3s var(--ease) }
.chip button { flex: none; margin-inline-end: -0.25rem; min-block-size: 1.5rem; padding: 0 0.4375rem; border-radius: 1rem; color: var(--accent); font-weight: 600 }
.plain { white-space: pre-wrap }
.chunk { content-visibility: auto; contain-intrinsic-size: auto 100rem }
.name { font-weight: 600 }

.busy { display: inline-flex; gap: 0.25rem; align-items: center; block-size: 1.5rem }
.busy i { inline-size: 0.375rem; block-size: 0.375rem; border-radius: 50%; background: var(--accent); animation: swell 1.2s ease-in-out infinite }
.busy i:nth-child(2) { animation-delay: 0.15s }
.busy i:nth-child(3) { animation-delay: 0.3s }

.empty { display: grid; justify-items: center; gap: 0.75rem; margin: auto; padding: 1.5rem; text-align: center; animation: rise 0.4s var(--ease) }
.empty .mark { inline-size: 3.5rem; block-size: 3.5rem; stroke-width: 1.25 }
.empty h3 { font-size: 1.25rem; font-weight: 620; line-height: 1.3; text-wrap: balance }
.empty .row { justify-content: center }
.empty p { max-inline-size: 26rem; color: var(--muted); text-wrap: pretty }
.homes { display: flex; gap: 0.25rem; inline-size: fit-content; margin: 0.25rem auto 0; padding: 0.25rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--surface) }
.choice p { padding: 0.25rem 0.75rem; font-size: 0.6875rem; text-align: center }
.homes label { display: flex; align-items: center; gap: 0.375rem; min-block-size: 2rem; padding-inline: 0.75rem; border-radius: 0.75rem; font-size: 0.8125rem; cursor: pointer }
.homes label:has(:checked) { background: var(--raised) }
.homes label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 1px }
.homes input { position: absolute; inline-size: 1px; block-size: 1px; opacity: 0 }
.to-end { position: absolute; inset-block-end: 0.75rem; inset-inline: 0; display: flex; justify-content: center; pointer-events: none }
.to-end button { pointer-events: auto; min-block-size: 2.25rem; min-inline-size: 2.25rem; padding-inline: 0.625rem; border-radius: 2rem; background: var(--surface); box-shadow: 0 0 0 1px var(--line), 0 4px 16px rgb(0 0 0 / 0.14); font-size: 0.8125rem; font-weight: 550; animation: rise 0.2s var(--ease) }
.to-end button:hover:not(:disabled) { background: var(--raised) }

.foot-bar { inline-size: 100%; max-inline-size: 46rem; margin-inline: auto; padding: 0 0.75rem max(0.625rem, env(safe-area-inset-bottom)) }
.composer { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: end; gap: 0.25rem; padding: 0.3125rem; padding-inline-start: 0.875rem; border: 1px solid color-mix(in oklab, var(--muted) 80%, var(--surface)); border-radius: 1.375rem; background: var(--surface); transition: border-color 0.15s, box-shadow 0.15s }
.composer:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent) }
.composer textarea { field-sizing: content; min-block-size: 2.25rem; max-block-size: min(12rem, 40cqb); padding: 0.4rem 0; border: 0; outline: 0; background: none; font-size: max(1em, 16px); line-height: 1.4; resize: none }
@media (pointer: fine) { .composer textarea { font-size: 1em; line-height: 1.45rem } }
textarea::placeholder, input::placeholder { color: var(--muted); opacity: 1 }
.go { border-radius: 50% }
.go:disabled { background: var(--raised); color: var(--muted); opacity: 1 }
.hint { padding: 0.375rem 0.875rem 0; color: var(--muted); font-size: 0.6875rem; line-height: 1.3 }

.side { grid-area: 1 / 1; z-index: 2; display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); min-block-size: 0; background: var(--surface); animation: rise 0.2s var(--ease) }

.frame { display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr); min-block-size: 0; block-size: 100% }
@container chat (inline-size >= 57.6em) {
  .frame { grid-template-columns: 18rem minmax(0, 1fr) }
  .side { animation: none }
  .side.sessions { border-inline-end: 1px solid var(--line); background: var(--raised) }
  .main { grid-area: 1 / 2 }
  .to-sessions, .side.sessions .leave, .main .to-new { display: none }
}
@container chat (inline-size < 57.6em) {
  .side.sessions:not(.shown) { display: none }
}
@container (inline-size < 57.6em) {
  .to-more { display: inline-flex }
  .more { position: absolute; z-index: 3; inset-block-start: 3.5rem; inset-inline-end: 0.75rem; display: none; gap: 0.25rem; padding: 0.375rem; border-radius: 0.75rem; background: var(--surface); box-shadow: 0 0 0 1px var(--line), 0 8px 24px rgb(0 0 0 / 0.18) }
  .more.shown { display: grid }
  .head .more button { color: inherit; justify-content: start; gap: 0.5rem; inline-size: 100%; padding-inline: 0.75rem; font-size: 0.875rem }
  .head .more .label { display: inline }
}
@container (inline-size < 27em) {
  .main > .head { flex-wrap: wrap; row-gap: 0 }
  .main .titles { display: contents }
  .main h2 { flex: 1; display: -webkit-box; overflow-wrap: anywhere; white-space: normal; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
  .home { order: 1; flex-basis: 100%; padding-inline: 2.875rem }
}
@container (inline-size < 23em) {
  .main .to-new { display: none }
}
@media (hover: none), (max-height: 30em) { .hint { display: none } }
@media (max-height: 20em) { .choice p { display: none } }
@keyframes rise { from { opacity: 0; transform: translateY(0.375rem) } }
@keyframes soon { from { max-block-size: 0; margin: 0; visibility: hidden } }
@keyframes swell { 0%, 60%, 100% { opacity: 0.3; transform: scale(0.8) } 30% { opacity: 1; transform: none } }
@media (forced-colors: active) {
  .go, .primary, .outlined { border: 1px solid ButtonText }
  .notice, .message.user .bubble, .chip { border: 1px solid CanvasText }
  .homes label { border: 2px solid Canvas }
  .homes label:has(:checked), .head [aria-expanded='true'] { border: 2px solid Highlight }
  .busy i { background: CanvasText }
}
`
