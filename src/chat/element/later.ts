/** What few messages need: loaded a second after the view, or when one does. */
export { chips } from './chips.ts'
export { attach } from './dropped.ts'
export { editor } from './editor.ts'
export { opener } from './file-opener.ts'
export { reasoningView, stepsView } from './steps.ts'
export { versions } from './versions.ts'
