/** Where the widget is on its page, and the button that opens it. */
export const launcherStyle = `
:host { color-scheme: light dark; position: fixed; z-index: var(--plimsoll-z-index, 2147483000); inset: auto; inline-size: 0; block-size: 0 }
:host([placement='inline']) { position: relative; z-index: auto; display: block; inline-size: auto; block-size: 100%; min-block-size: 20rem }
:host([placement='page']) { inset: 0; inline-size: auto; block-size: auto; display: block }
:host([hidden]) { display: none !important }
*, ::before { box-sizing: border-box }
.shell { font-size: medium; --_unit: 1em }
[hidden] { display: none !important }
.launcher {
  --accent: var(--plimsoll-accent, light-dark(#14598c, #7cc0ee));
  position: fixed; inset-block-end: var(--plimsoll-offset, 1.25rem); right: var(--plimsoll-offset, 1.25rem);
  display: grid; place-items: center; inline-size: 3.5rem; block-size: 3.5rem; padding: 0; border: 0; border-radius: 50%;
  background: var(--accent); color: var(--plimsoll-on-accent, light-dark(#fff, #06202f)); cursor: pointer;
  box-shadow: 0 1px 3px rgb(0 0 0 / 0.2), 0 8px 24px rgb(0 0 0 / 0.18);
  transition: transform 0.2s cubic-bezier(0.2, 0.8, 0.2, 1);
}
.launcher:hover { transform: translateY(-2px) }
.launcher:active { transform: scale(0.95) }
.launcher:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
.launcher svg, .wait svg { inline-size: 2rem; block-size: 2rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round }
.frame { color: var(--plimsoll-text, light-dark(#17202a, #e8edf2)); background: var(--plimsoll-surface, light-dark(#fff, #12171c)) }
.floating .frame {
  position: fixed; inset-block-end: calc(var(--plimsoll-offset, 1.25rem) + 4.25rem); right: var(--plimsoll-offset, 1.25rem);
  inline-size: min(var(--plimsoll-width, 25rem), 100vw - 2 * var(--plimsoll-offset, 1.25rem));
  block-size: min(var(--plimsoll-height, 42rem), 100dvh - var(--plimsoll-offset, 1.25rem) - 5.5rem);
  overflow: clip; border-radius: var(--plimsoll-radius, 1.25rem);
  box-shadow: 0 0 0 1px rgb(0 0 0 / 0.07), 0 2px 6px rgb(0 0 0 / 0.06), 0 16px 48px rgb(0 0 0 / 0.2);
  transform-origin: 100% 100%; transition: opacity 0.2s, transform 0.25s cubic-bezier(0.2, 0.8, 0.2, 1);
}
.floating.left .launcher, .floating.left .frame { right: auto; left: var(--plimsoll-offset, 1.25rem) }
.floating.left .frame { transform-origin: 0 100% }
@starting-style { .floating .frame { opacity: 0; transform: translateY(0.75rem) scale(0.97) } }
.filling, .filling .frame { block-size: 100% }
.inline .frame { overflow: clip; border-radius: var(--plimsoll-radius, 1.25rem); box-shadow: inset 0 0 0 1px light-dark(#dfe4e9, #2c353e) }
.wait { display: grid; place-content: center; justify-items: center; gap: 1rem; block-size: 100%; padding: 1.5rem; font: 0.9375rem/1.5 var(--plimsoll-font, system-ui, sans-serif); text-align: center }
.wait button { min-block-size: 2.25rem; padding: 0.25rem 1rem; border: 1px solid currentColor; border-radius: 0.625rem; background: none; color: inherit; font: inherit; cursor: pointer }
.wait svg { opacity: 0.6; animation: swell 1.6s ease-in-out infinite }
@keyframes swell { 50% { opacity: 0.25 } }
@media (max-width: 30em) {
  .floating .frame, .floating.left .frame { inset: 0; inline-size: auto; block-size: 100dvh; border-radius: 0; box-shadow: none }
  .floating.open .launcher { display: none }
}
@media (prefers-reduced-motion: reduce) { :not(.soon), ::before { animation: none !important; transition: none !important } }
@media (forced-colors: active) { .launcher, .floating .frame { border: 1px solid CanvasText } }
@media print { .floating { display: none } }
`
