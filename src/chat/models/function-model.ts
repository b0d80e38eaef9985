import type { Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import type { ChatModel, ReplyFunction } from '../settings.ts'
import { followed } from './followed-signal.ts'
import { plainMessages } from './plain-messages.ts'

/** What a page gave as a model of the library's. */
export function asModel(given: ChatModel): Model {
  return typeof given === 'function' ? functionModel('page', given) : given
}

/** A model over a function that answers with text. It gets no tools. */
export function functionModel(id: string, answer: ReplyFunction): Model {
  return { id, complete: (request) => complete(request, answer) }
}

async function* complete(
  { context, signal }: ModelRequest,
  answer: ReplyFunction,
): AsyncGenerator<ModelEvent> {
  const own = followed(signal)
  let text = ''
  try {
    const given = answer(plainMessages(context), { signal: own.signal })
    const pieces = typeof given === 'object' && Symbol.asyncIterator in given ? given : [await given]
    for await (const piece of pieces) {
      signal?.aborted && own.signal.throwIfAborted()
      text += piece
      yield { type: 'text', text: piece }
    }
  } finally {
    own.end()
  }
  // Half a character, as where it was cut: a log refuses it.
  const content = text.replace(/\p{Cs}/gu, '\ufffd')
  yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
}
