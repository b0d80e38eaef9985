import type { Scene } from './scene.ts'

/** Adds files that are dropped on the chat as those that are chosen; the page stays. */
export function takeDropped(frame: HTMLElement, { chat, act }: Pick<Scene, 'chat' | 'act'>): void {
  const mark = (isOver: boolean): void => void frame.classList.toggle('dropping', isOver)
  const takes = (): boolean => chat.conversation.getSnapshot().takesUploads
  /** Of files; texts go where they are dropped. */
  const take = (event: DragEvent): DataTransfer | undefined => {
    if (!event.dataTransfer?.types.includes('Files')) return undefined
    // Else the browser goes to what is dropped, in place of the page.
    event.preventDefault()
    return event.dataTransfer
  }
  const over = (event: DragEvent): void => {
    const dragged = take(event)
    if (!dragged) return
    dragged.dropEffect = takes() ? 'copy' : 'none'
    mark(takes())
  }
  frame.addEventListener('dragenter', over)
  frame.addEventListener('dragover', over)
  frame.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!frame.contains(relatedTarget as Node | null)) mark(false)
  })
  frame.addEventListener('drop', (event) => {
    const dropped = take(event)
    mark(false)
    if (dropped && takes()) act.addFiles([...dropped.files])
  })
}
