import type { LanguageModelMiddleware, ModelMessage } from 'ai'
import * as ai from 'ai'
import { asText } from '../../kernel/count.ts'
import { partsOf } from '../../kernel/log/message.ts'
import { checkAsked } from '../../operations/check-asked.ts'
import type { Session } from '../../ports/memory.ts'
import type { MessageInput } from '../../ports/message.ts'
import { checkObject } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { invalid } from '../../text/json.ts'
import { checkCache } from './asked.ts'
import { isAnthropic } from './cache.ts'
import { fromModelMessages } from './from-model-messages.ts'
import { needAI } from './peer.ts'
import { promptOf } from './prompt.ts'
import { messageOf, ReplyBuilder } from './reply.ts'
import { toAISDK } from './to-ai-sdk.ts'
import { specsOf } from './tools.ts'
import type { Prompt, StreamPart } from './types.ts'

export interface MemoryMiddlewareOptions extends Omit<ContextOptions, 'tools' | 'preview' | 'newEpoch'> {
  /**
   * Whether to set Anthropic's cache breakpoints, at most four. Default: for its models, behind any
   * provider.
   */
  readonly cache?: boolean
}

/**
 * A middleware for `wrapLanguageModel`: each call of the model writes what is new in its prompt to
 * the session, is given the session's context in place of the prompt, and writes the reply when it
 * is whole. A reply that fails, or that its reader gives up, is not written. The tools of the call
 * count.
 *
 * What is new: a prompt goes on from the log. The messages with which it begins are known where the
 * log ends with the same ones (the longest such run), compared by role, texts, calls and results;
 * what follows is new and written. So an app may send the whole conversation, its end, or only what
 * is new, and a call that is repeated writes nothing twice. A prompt whose middle was edited does
 * not go on from the log and would be written whole: rewind the session first. For conversations in
 * a browser, where messages have ids, take `memoryLoop`.
 *
 * System messages are not written: calls reject with ERR_INVALID_ARGUMENT where they are not the
 * memory's own, since no budget counts them. Otherwise calls reject with what `append()` and
 * `context()` reject with.
 *
 * @throws ERR_INVALID_ARGUMENT; ERR_NOT_CONFIGURED: an `ai` before 7
 * @example
 * ```ts
 * import { generateText, wrapLanguageModel } from 'ai'
 * import { memoryMiddleware } from 'plimsoll/ai-sdk'
 *
 * const remembering = wrapLanguageModel({ model, middleware: memoryMiddleware(session) })
 * const { text } = await generateText({ model: remembering, prompt: 'When does my train leave?' })
 * ```
 */
export function memoryMiddleware(
  session: Session,
  options: MemoryMiddlewareOptions = {},
): LanguageModelMiddleware {
  needAI(ai)
  checkObject('memoryMiddleware', 'options', options)
  const { cache, ...contextOptions } = options
  checkCache('memoryMiddleware', cache)
  checkAsked('memoryMiddleware', session, contextOptions, ['tools', 'preview', 'newEpoch'])
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params, model }) => {
      const { prompt, tools } = params
      await writeNew(session, prompt)
      const context = await session.context({ ...contextOptions, tools: specsOf(tools) })
      const request = toAISDK(context, { cache: cache ?? isAnthropic(model) })
      const own = request.instructions?.map(({ content }) => content).join('\n') ?? ''
      const given = prompt.flatMap((message) => (message.role === 'system' ? message.content : []))
      if (given.length > 0 && given.join('\n') !== own)
        throw invalid(
          'memoryMiddleware',
          'prompt',
          'has system messages: they belong in createMemory({ system })',
        )
      return { ...params, prompt: promptOf(request) }
    },
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate()
      if (result.finishReason.unified !== 'error') await writeReply(session, messageOf(result.content))
      return result
    },
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream()
      const reply = new ReplyBuilder()
      const writing = new TransformStream<StreamPart, StreamPart>({
        async transform(part, controller) {
          reply.add(part)
          // Written before the reader learns that it is whole: what it does next may need it.
          if (part.type === 'finish' && part.finishReason.unified !== 'error')
            await writeReply(session, reply.message())
          controller.enqueue(part)
        },
      })
      return { ...rest, stream: stream.pipeThrough(writing) }
    },
  }
}

async function writeReply(session: Session, message: MessageInput): Promise<void> {
  if (partsOf(message as never).length > 0) await session.append(message)
}

async function writeNew(session: Session, prompt: Prompt): Promise<void> {
  const messages = fromModelMessages(prompt as ModelMessage[]).filter(({ role }) => role !== 'system')
  const keys = messages.map(keyOf)
  const shown = await session.history({ messages: messages.length })
  const log = shown.map(keyOf).filter((key) => key !== '')
  const given = keys.filter((key) => key !== '')
  let known = given.length
  while (known > 0 && !given.slice(0, known).every((key, index) => key === log[log.length - known + index]))
    known--
  let left = known
  const fresh = messages.filter((_, index) => (keys[index] === '' ? left <= 0 : left-- <= 0))
  if (fresh.length > 0) await session.append(fresh)
}

/** What two messages that say the same have in common; nothing for one that says nothing. */
function keyOf(message: Pick<MessageInput, 'role' | 'content'>): string {
  const parts = partsOf(message as never).flatMap((part): unknown[] => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [part.text]
      case 'tool-call':
        return [[part.id, part.name, part.input]]
      case 'tool-result':
        return [[part.callId, asText(part.output)]]
      case 'media':
        // The SDK may have downloaded it, and then it is bytes of another type.
        return ['media']
      default:
        return []
    }
  })
  return parts.length === 0 ? '' : JSON.stringify([message.role, parts])
}
