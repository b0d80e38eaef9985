import type { MediaPart } from '../../ports/message.ts'
import { loaded } from '../homes/load.ts'
import type { Scene } from './scene.ts'

/** Opens a file of a message at its click; what does so is loaded with the first. */
export function opener(scene: Scene, part: MediaPart): (click: Event) => void {
  return ({ currentTarget }) =>
    scene.attempt(
      loaded(() => import('./open-file.ts')).then(({ openFile }) =>
        openFile(scene, part, currentTarget as HTMLElement),
      ),
    )
}
