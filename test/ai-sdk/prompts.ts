import type { ModelMessage } from 'ai'
import { expect } from 'vitest'
import type { Prompt } from '../../src/bridges/ai-sdk/types.ts'
import { brokenRules } from './rules.ts'

export function expectPaired(messages: Prompt | readonly ModelMessage[]): void {
  expect(brokenRules(messages)).toEqual([])
}
