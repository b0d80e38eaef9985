/**
 * Edits, other replies and calls in assistant-ui's own runtime, and what another page has of them.
 */
import { deepEqual } from 'node:assert/strict'
import { LocalRuntimeCore } from '@assistant-ui/core/internal'
import { type ChatModelAdapter, type ThreadMessage, useLocalRuntime } from '@assistant-ui/react'
import { createMemory, mapStore } from 'plimsoll'
import { plimsollHistory } from 'plimsoll/assistant-ui'

const store = mapStore()
const session = () => createMemory({ store, budget: 16_000 }).session({ userId: 'ada', sessionId: 'trip' })

let replies = 0
const chatModel: ChatModelAdapter = {
  async *run() {
    const n = ++replies
    const call = {
      type: 'tool-call' as const,
      toolCallId: `c${n}`,
      toolName: 'count',
      argsText: `{"n":${n}}`,
    }
    yield { content: [{ type: 'text', text: 'Well …' }] }
    yield {
      content: [
        { type: 'reasoning', text: 'Which one?' },
        { type: 'text', text: `Reply ${n}.` },
        ...(n % 3 === 0 ? [{ ...call, args: { n }, result: { n } }] : []),
      ],
    }
  },
}

/** As components do. */
export const useThread = () =>
  useLocalRuntime(chatModel, { adapters: { history: plimsollHistory(session()) } })

async function opened() {
  const history = plimsollHistory<ThreadMessage>(session())
  const runtime = new LocalRuntimeCore({ adapters: { chatModel, history } }, undefined)
  const thread = runtime.threads.getMainThreadRuntimeCore()
  await thread.__internal_load()
  const say = (text: string, parentId: string | null, sourceId: string | null = null) =>
    thread.append({
      ...{ role: 'user', content: [{ type: 'text', text }], attachments: [], metadata: { custom: {} } },
      ...{ createdAt: new Date(), parentId, sourceId, runConfig: undefined },
    })
  const last = () => thread.messages.at(-1)?.id ?? null
  return { thread, say, last, settled: () => history.load() }
}

type Opened = Awaited<ReturnType<typeof opened>>

/** What a page has, in no order. */
const all = ({ thread }: Opened): unknown =>
  JSON.parse(JSON.stringify(thread.export().messages)).toSorted(
    (one: { message: { id: string } }, other: { message: { id: string } }) =>
      one.message.id < other.message.id ? -1 : 1,
  )

async function compared(page: Opened): Promise<Opened> {
  await page.settled()
  const again = await opened()
  deepEqual(
    again.thread.messages.map(({ id }) => id),
    page.thread.messages.map(({ id }) => id),
  )
  deepEqual(all(again), all(page))
  return again
}

const page = await opened()
await page.say('One', null)
await page.say('Two', page.last())
const [u1, a1, u2] = page.thread.messages
if (!u1 || !a1 || !u2) throw new Error('nothing was said')
await page.say('Two, edited', a1.id, u2.id)
await page.thread.startRun({ parentId: u1.id, sourceId: a1.id, runConfig: {} })
await page.say('Three', page.last())
const again = await compared(page)
again.thread.switchToBranch(u2.id)
await again.say('On the older branch', again.last())
await compared(again)
