import { expect, it } from 'vitest'
import { problemOf, wordsFor } from '../../../src/chat/element/problems.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'

it('says of a request without an answer that there is no connection', () => {
  const unanswered = problemOf(new PlimsollError('ERR_STORAGE', 'GET /v1/me/export: no answer'))
  expect(wordsFor(unanswered)).toBe('problemOffline')
  expect(wordsFor(problemOf(new PlimsollError('ERR_STORAGE', 'commit: no')))).toBe('problemOther')
})
