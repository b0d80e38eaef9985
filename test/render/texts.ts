import {
  type Context,
  stringifyAnthropic,
  stringifyOpenAI,
  stringifyOpenAIResponses,
  toAnthropic,
  toOpenAI,
  toOpenAIResponses,
} from '../../src/index.ts'

const BODY = { model: 'a "model"', stream: true }

/** That the text of each renderer is, with each of its options, that of its request. */
export function expectTexts(context: Context): void {
  for (const cache of [false, true]) {
    same(stringifyOpenAI(context, BODY, { cache }), { ...BODY, ...toOpenAI(context, { cache }) })
    for (const options of [{ cache }, { cache, opaque: false, ttl: '12h' as const }])
      same(stringifyOpenAIResponses(context, {}, options), toOpenAIResponses(context, options))
    for (const options of [{ cache }, { cache, previousMessageId: null }])
      same(stringifyAnthropic(context, BODY, options), { ...BODY, ...toAnthropic(context, options) })
  }
}

/** @throws with the place where they part: a report of two long texts takes longer than the test */
function same(text: string, request: object): void {
  const wanted = JSON.stringify(request)
  if (text === wanted) return
  let at = 0
  while (text[at] === wanted[at]) at++
  const around = (whole: string) => whole.slice(Math.max(0, at - 60), at + 60)
  throw new Error(`at ${at} of ${wanted.length}:\n  ${around(text)}\n  ${around(wanted)}`)
}
