/** Editing a message in its place. */
import { html, type TemplateResult } from 'lit/html.js'
import { type Row, textOf } from './rows.ts'
import type { Scene } from './scene.ts'

/**
 * Puts what was written to the draft where its message is gone: another tab or device has edited or
 * removed it.
 */
export function keepEdited(frame: HTMLElement, { chat, act }: Pick<Scene, 'chat' | 'act'>): void {
  let field: HTMLTextAreaElement | null = null
  let home: string | undefined
  const look = (): void => {
    const { session } = chat.conversation.getSnapshot()
    const before = field
    field = frame.querySelector('.editor textarea')
    const isLeft = before && !field && session?.sessionId === home
    home = session?.sessionId
    const draft = frame.querySelector<HTMLTextAreaElement>('.composer textarea')
    if (!isLeft || !draft || before.readOnly || before.value === before.defaultValue) return
    draft.value = [draft.value, before.value].filter(Boolean).join('\n')
    act.typed()
  }
  new MutationObserver(look).observe(frame, { childList: true, subtree: true })
}

export function editor(scene: Scene, row: Row): TemplateResult {
  const { words } = scene
  const stop = ({ currentTarget }: Event): void => {
    const message = (currentTarget as Element).closest<HTMLElement>('.message')
    message?.querySelector('form')?.reset()
    scene.update({ editing: undefined })
    requestAnimationFrame(() => {
      // Its buttons show where it has the focus.
      message?.focus()
      const buttons = [...(message?.querySelectorAll('button') ?? [])]
      buttons.find(({ title }) => title === words.text('edit'))?.focus()
    })
  }
  return html`<form class="editor" @submit=${(event: Event) => {
    event.preventDefault()
    scene.attempt(save(scene, row, event.currentTarget as HTMLFormElement))
  }}>
    <textarea dir="auto" rows="1" aria-label=${words.text('editMessage')} .defaultValue=${row.text}
      @keydown=${(event: KeyboardEvent) => {
        if (event.isComposing) return
        if (event.key === 'Escape') {
          event.stopPropagation()
          stop(event)
        } else if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault()
          ;(event.currentTarget as HTMLTextAreaElement).form?.requestSubmit()
        }
      }}></textarea>
    <div class="row">
      <button class="outlined" type="button" @click=${stop}>${words.text('cancel')}</button>
      <button class="primary">${words.text('editSend')}</button>
    </div>
  </form>`
}

async function save({ chat, update }: Scene, { shown }: Row, form: HTMLFormElement): Promise<void> {
  const { id, content } = shown.message
  const field = form.querySelector('textarea') as HTMLTextAreaElement
  const text = field.value.trim()
  const isChanged = text !== '' && text !== textOf(content)
  // Its message is gone once it is kept.
  field.readOnly = true
  if (!isChanged || (await chat.conversation.edit(id, text))) update({ editing: undefined })
  else field.readOnly = false
}
