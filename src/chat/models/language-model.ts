/**
 * The language model of the browser, where it has one: `LanguageModel` of the Prompt API
 * (webmachinelearning.github.io/prompt-api). Chrome has it on some devices; it may have to be
 * downloaded first, which takes a click.
 */
import type { Model } from '../../ports/model.ts'
import type { LanguageModelClass } from './find-language-model.ts'
import { functionModel } from './function-model.ts'

/** A model over the browser's own. It is given texts alone, and no tools. */
export function languageModel(given: LanguageModelClass): Model {
  return functionModel('browser/language-model', async function* (messages, { signal }) {
    const said = messages.at(-1)?.content ?? ''
    const session = await given.create({ initialPrompts: messages.slice(0, -1), signal })
    const reader = session.promptStreaming(said, { signal }).getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        yield value
      }
    } finally {
      session.destroy()
    }
  })
}

/** Has it downloaded; `progress` gets shares from 0 to 1. Call it in a click. */
export async function download(given: LanguageModelClass, progress: (share: number) => void): Promise<void> {
  const session = await given.create({
    monitor: (monitor) =>
      monitor.addEventListener('downloadprogress', (event) => progress((event as ProgressEvent).loaded)),
  })
  session.destroy()
}
