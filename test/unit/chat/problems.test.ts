import { expect, it } from 'vitest'
import { problemOf, wordsFor } from '../../../src/chat/element/problems.ts'
import { loaded } from '../../../src/chat/homes/load.ts'
import type { Problem } from '../../../src/chat/ports.ts'
import { LANGUAGES, loadStrings } from '../../../src/chat/strings/load.ts'
import { wordsOf } from '../../../src/chat/strings/words.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'

it('says of a request without an answer that there is no connection', () => {
  const unanswered = problemOf(new PlimsollError('ERR_STORAGE', 'GET /v1/me/export: no answer'))
  expect(wordsFor(unanswered)).toBe('problemOffline')
  expect(wordsFor(problemOf(new PlimsollError('ERR_STORAGE', 'commit: no')))).toBe('problemOther')
})

it('says of a part that could not be loaded, and of a picture that is none, what can be done', async () => {
  const failed = await loaded(() => Promise.reject(new TypeError('Failed to fetch'))).catch(problemOf)
  expect(failed).toMatchObject({ code: 'ERR_NOT_LOADED', retryable: false })
  expect(wordsFor(failed as Problem)).toBe('problemPart')
  expect(wordsFor(problemOf(new PlimsollError('ERR_UNSUPPORTED_MEDIA_TYPE', 'chat: no')))).toBe(
    'problemPicture',
  )
})

it.each(LANGUAGES)('names a file that is too large, and how large one may be: %s', async (language) => {
  const words = wordsOf(await loadStrings(language))
  const told = (id?: string) => {
    const error = new PlimsollError('ERR_ENTRY_TOO_LARGE', 'attach: no', id === undefined ? {} : { id })
    return words.text(wordsFor(problemOf(error)), { name: id ?? '' })
  }
  expect(told('harbour.mp4')).toMatch(/harbour\.mp4.*8|8.*harbour\.mp4/)
  // A text has no name, and can be shortened.
  expect(told()).toBe(words.text('problemTooLarge'))
})

it.each(LANGUAGES)('says that what was written is kept where no reply came: %s', async (language) => {
  const words = wordsOf(await loadStrings(language))
  const told = (code: Problem['code']) =>
    words.text(wordsFor(problemOf(new PlimsollError(code, 'reply: no'))))
  const [kept = ''] = told('ERR_MODEL').match(/[^.。]+[.。]$/) ?? []
  for (const code of ['ERR_RATE_LIMIT', 'ERR_OVERLOADED', 'ERR_TIMEOUT'] as const)
    expect(told(code)).toContain(kept.trim())
})
