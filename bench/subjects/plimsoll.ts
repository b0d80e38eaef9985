import { charsPerToken, createMemory, mapStore, type Session, stringifyOpenAI } from '../../src/index.ts'
import type { Context } from '../../src/ports/context.ts'
import type { Store } from '../../src/ports/store.ts'
import { SYSTEM } from '../history.ts'
import { BUDGET, type Subject } from '../subject.ts'

export const subject: Subject = {
  steps: ['plimsoll context()', 'plimsoll context() + stringifyOpenAI'],
  cold: 'plimsoll cold: a new session on the same store',
  async open(history) {
    const store = mapStore()
    const session = openSession(store)
    for (const exchange of history) await session.append(exchange)
    let context = await session.context()
    let json = ''
    return {
      append: (exchange) => session.append(exchange),
      steps: [
        async () => {
          context = await session.context()
        },
        () => {
          json = stringifyOpenAI(context)
          // Reading it makes it one piece, as sending it would and as JSON.stringify gives it.
          json.charCodeAt(0)
        },
      ],
      shown: () => ({ messages: json === '' ? 0 : shownMessages(context), tokens: context.receipt.used }),
      async cold() {
        const begin = performance.now()
        await openSession(store).context()
        return performance.now() - begin
      },
    }
  },
}

export function openSession(store: Store): Session {
  return createMemory({ store, system: SYSTEM, budget: BUDGET, counter: charsPerToken(4) }).session({
    userId: 'bench',
    sessionId: 'history',
  })
}

function shownMessages({ blocks }: Context): number {
  return new Set(blocks.filter(({ section }) => section === 'window').flatMap(({ from }) => from)).size
}
