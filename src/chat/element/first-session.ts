import { adopt } from '../adopt.ts'
import { loadMarkdown } from '../markdown/prose.ts'
import type { Chat } from '../open-chat.ts'
import { viewStyle } from './style.ts'

/**
 * How long the list of conversations is waited for before an empty one is shown, in milliseconds.
 */
const WAIT_MS = 1_500
/**
 * How long Markdown is waited for before replies show as plain text, in milliseconds: what shows as
 * Markdown at once is laid out once.
 */
const MARKDOWN_MS = 100

/** Shows the conversation of that id; without one the newest, or an empty one. */
export async function firstSession(chat: Chat, sessionId: string | undefined): Promise<void> {
  const { conversation, sessions } = chat
  if (sessionId === undefined) await loaded(sessions)
  const [newest] = sessionId === undefined ? sessions.getSnapshot().sessions : [{ sessionId }]
  if (!newest) {
    await conversation.create()
    return
  }
  const loading = markdown()
  const opening = conversation.open(newest.sessionId, 'home' in newest ? { home: newest.home } : {})
  // Made while the browser reads.
  adopt(undefined, viewStyle)
  await opening
  await Promise.race([loading, new Promise((done) => setTimeout(done, MARKDOWN_MS))])
}

/** Loads what replies mostly need, while they are looked for. Never rejects. */
const markdown = (): Promise<void> => loadMarkdown().catch(() => {})

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
