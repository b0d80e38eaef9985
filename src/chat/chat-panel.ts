import type { ChatConversation } from './conversation/conversation.ts'
import type { ChatSessionList } from './conversation/session-list.ts'
import { allPanels } from './homes/all-panels.ts'
import { deleteAdded } from './homes/delete-database.ts'
import type { Drafts } from './homes/drafts.ts'
import type { HomeKind, HomeMemory, MemoryPanelModel } from './ports.ts'
import type { ChatPlatform } from './settings.ts'

export interface ChatPanelParts {
  /** Homes that hold something, the one that new sessions are made in last. */
  readonly kinds: readonly HomeKind[]
  /** Homes that an import may go to. */
  readonly destinations: readonly HomeKind[]
  /** Contract: gives what is remembered in a home. */
  readonly open: (kind: HomeKind) => Promise<HomeMemory>
  readonly conversation: ChatConversation
  readonly sessions: ChatSessionList
  readonly platform: ChatPlatform
  readonly name: string
  /** What is kept by conversation beside them. */
  readonly kept: readonly Drafts[]
}

/**
 * What is remembered in all homes of a chat. What is changed there shows in the conversation,
 * whichever home or scope it is written to.
 */
export async function chatPanel(parts: ChatPanelParts): Promise<MemoryPanelModel> {
  const { kinds, destinations, open, conversation, sessions, platform, name, kept } = parts
  const homes = kinds.map(async (kind) => ({ kind, memory: await open(kind) }))
  const panel = allPanels(await Promise.all(homes), destinations, open)
  const told = <Done>(change: Promise<Done>): Promise<Done> => change.finally(() => conversation.onFacts())
  return {
    ...panel,
    edit: (factId, change) => told(panel.edit(factId, change)),
    promote: (factId) => told(panel.promote(factId)),
    forget: (factId) => conversation.undoing(factId, () => panel.forget(factId)),
    import: (chunks, home) => told(panel.import(chunks, home)).finally(() => sessions.refresh()),
    async eraseAll() {
      const certificate = await panel.eraseAll()
      for (const each of kept) each.clear()
      // Other tabs hear that it is removed.
      const key = `${name}/erased`
      platform.storage.setItem(key, '')
      platform.storage.removeItem(key)
      await deleteAdded(parts)
      await conversation.create()
      await sessions.refresh()
      return certificate
    },
  }
}
