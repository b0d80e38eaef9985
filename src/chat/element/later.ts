/** What few messages need: loaded a second after the view, or when one does. */
import { takeDropped } from './dropped.ts'
import { keepEdited } from './editor.ts'
import type { Scene } from './scene.ts'

export { chips } from './chips.ts'
export { editor } from './editor.ts'
export { opener } from './file-opener.ts'
export { reasoningView, stepsView } from './steps.ts'
export { versions } from './versions.ts'

/** What it does beside what is drawn. */
export function attach(frame: HTMLElement, scene: Pick<Scene, 'chat' | 'act'>): void {
  takeDropped(frame, scene)
  keepEdited(frame, scene)
}
