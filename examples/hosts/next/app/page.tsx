import { toUIMessages } from 'plimsoll/ai-sdk'
import { Chat } from './chat'
import { client } from './edge'

/** Rendered at each visit, on the server, with what is there. */
export const dynamic = 'force-dynamic'

export default async function Page() {
  await client.sessions.create({ sessionId: 'trip' })
  return <Chat history={toUIMessages(await client.session('trip').messages())} />
}
