import type { StoreStatus } from '../src/stores/dexie.ts'
import { button } from './dom.ts'

export interface StatusActions {
  readonly reload: () => void
  readonly acceptLoss: () => void
}

/** Says in words how the store does, with a way out where there is one. */
export function showStatus(root: HTMLElement, { state, cause }: StoreStatus, actions: StatusActions): void {
  root.dataset.state = state
  switch (state) {
    case 'ready':
      root.replaceChildren('Saved in this browser.')
      return
    case 'read-only':
      root.replaceChildren(
        'Read-only: a newer version of this page has upgraded the database.',
        button('Reload', actions.reload),
      )
      return
    case 'memory':
      root.replaceChildren(
        `Not saved: the database failed${cause ? ` (${cause.message})` : ''}. What is written now is gone when this tab closes.`,
      )
      return
    case 'lost':
      root.replaceChildren(
        'Lost: the browser has deleted this conversation, or put another database in its place. What still shows here is not saved.',
        button('Go on without it', actions.acceptLoss),
      )
  }
}
