import type { LanguageModel } from 'ai'
import * as ai from 'ai'

/** The major of the `ai` that this project runs with. */
export const MAJOR = 'isStepCount' in ai ? 7 : 'ToolLoopAgent' in ai ? 6 : 5

export interface Call {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: object
}

export interface Reply {
  readonly text?: string
  readonly calls?: readonly Call[]
}

/** As much of a request as is the same in all majors. */
export interface Request {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly object[]
}

/** A model of the provider specification that came with the major, which says what it is told. */
export function scripted(next: (call: number) => Reply): {
  readonly model: LanguageModel
  readonly requests: Request[]
} {
  const requests: Request[] = []
  const reply = (request: Request): Reply => {
    requests.push(structuredClone({ prompt: request.prompt, tools: request.tools ?? [] }))
    return next(requests.length - 1)
  }
  const model = {
    specificationVersion: `v${MAJOR - 3}`,
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate(request: Request) {
      const { text, calls = [] } = reply(request)
      return {
        content: [...(text === undefined ? [] : [{ type: 'text', text }]), ...calls.map(callPart)],
        ...ending(calls),
        warnings: [],
      }
    },
    async doStream(request: Request) {
      const { text, calls = [] } = reply(request)
      const parts = [
        { type: 'stream-start', warnings: [] },
        ...(text === undefined
          ? []
          : [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: text },
              { type: 'text-end', id: 't' },
            ]),
        ...calls.map(callPart),
        { type: 'finish', ...ending(calls) },
      ]
      return {
        stream: new ReadableStream({
          start: (to) => {
            for (const part of parts) to.enqueue(part)
            to.close()
          },
        }),
      }
    },
  }
  return { model: model as never, requests }
}

function callPart({ input, ...call }: Call): object {
  return { type: 'tool-call', ...call, input: JSON.stringify(input) }
}

/** The end of a reply: a word and flat counts in the second specification, objects since. */
function ending(calls: readonly Call[]): object {
  const unified = calls.length > 0 ? 'tool-calls' : 'stop'
  return MAJOR === 5
    ? { finishReason: unified, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }
    : {
        finishReason: { unified, raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      }
}
