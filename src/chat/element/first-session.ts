import { loadMarkdown } from '../markdown/prose.ts'
import type { Chat } from '../open-chat.ts'

/**
 * How long the list of conversations is waited for before an empty one is shown, in milliseconds.
 */
const WAIT_MS = 1_500

/** Shows the conversation of that id; without one the newest, or an empty one. */
export async function firstSession(chat: Chat, sessionId: string | undefined): Promise<void> {
  const { conversation, sessions } = chat
  if (sessionId === undefined) await loaded(sessions)
  const [newest] = sessionId === undefined ? sessions.getSnapshot().sessions : [{ sessionId }]
  if (!newest) {
    await conversation.create()
    return
  }
  // What replies mostly need is loaded while they are read.
  loadMarkdown().catch(() => {})
  await conversation.open(newest.sessionId, 'home' in newest ? { home: newest.home } : {})
}

function loaded(sessions: Chat['sessions']): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      stop()
      clearTimeout(timer)
      done()
    }
    const timer = setTimeout(end, WAIT_MS)
    const stop = sessions.subscribe(() => {
      if (sessions.getSnapshot().loaded) end()
    })
    if (sessions.getSnapshot().loaded) end()
  })
}
