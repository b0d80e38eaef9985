import type { UIMessage } from 'ai'
import { fromUIMessages } from '../../../bridges/ai-sdk/from-ui.ts'
import { keptIn } from '../../../bridges/ai-sdk/opaque.ts'
import { layoutOf, withLayout } from '../../../bridges/ai-sdk/ui-layout.ts'
import { partsOf } from '../../../kernel/log/message.ts'
import type { Session } from '../../../ports/memory.ts'
import type { Json, Message, MessageInput, Part } from '../../../ports/message.ts'
import { canonical } from '../../../text/json.ts'

/** How far back a message is looked for by the id that a chat knows it by. */
const LOOK_BACK = 256
/** How many are read first, where the newest of them are likely to be enough. */
const FIRST_LOOK = 8

/** The newest messages of a session as they show, found by the ids of UI messages. */
export class ShownMessages {
  readonly messages: readonly Message[]

  private constructor(messages: readonly Message[]) {
    this.messages = messages
  }

  static async read(session: Session): Promise<ShownMessages> {
    return new ShownMessages(await session.history({ messages: LOOK_BACK }))
  }

  /**
   * The same, or fewer of them, where these say which messages of a chat are new: who sends the
   * newest one of the user has seen all before it.
   */
  static async readFor(session: Session, messages: readonly UIMessage[]): Promise<ShownMessages> {
    if (messages.length < 2) return ShownMessages.read(session)
    const newest = new ShownMessages(await session.history({ messages: FIRST_LOOK }))
    const last = newest.messages[newest.newestOfUser]
    const isKnown = last && messages.some(({ role, id }) => role === 'user' && id === uiId(last))
    const isEnough = isKnown || newest.messages.length === 0
    return isEnough ? newest : ShownMessages.read(session)
  }

  /**
   * Place of the message that begins a UI message; -1: it does not show, or stands further back.
   */
  placeOf(id: string): number {
    return this.messages.findIndex((message) => message.role !== 'tool' && uiId(message) === id)
  }

  /** Place of the newest message of the user; -1: there is none. */
  get newestOfUser(): number {
    return this.messages.findLastIndex(({ role }) => role === 'user')
  }
}

function uiId(message: Message): string {
  return layoutOf(message)?.id ?? message.id
}

/** Whether two messages say the same, whatever is noted beside it. */
export function saysTheSame(message: Message, sent: UIMessage): boolean {
  const [input] = fromUIMessages([sent])
  const texts = [message, input].map((one) => one && canonical(saidIn(one) as unknown as Json))
  return texts[0] === texts[1]
}

/**
 * A message of the user under an id of its own in the log, since that of the chat names what was
 * there before.
 */
export function underFreshId(sent: UIMessage, id: string): MessageInput {
  const [input] = fromUIMessages([{ ...sent, id }]) as [MessageInput]
  return withLayout(input, saidIn(input), { ...layoutOf(input), id: sent.id })
}

/** The parts without their layout. */
function saidIn(message: Pick<MessageInput, 'content'>): readonly Part[] {
  return partsOf(message).filter((part) => keptIn(part)?.type !== 'layout')
}
