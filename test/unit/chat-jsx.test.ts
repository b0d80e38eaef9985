import type { JSX } from 'react'
import { expectTypeOf, test } from 'vitest'
import type {} from '../../src/chat/jsx/react.ts'

type Props = JSX.IntrinsicElements['plimsoll-chat']

test('React knows the element, its properties and its events', () => {
  expectTypeOf<{ placement: 'inline'; heading: string }>().toExtend<Props>()
  expectTypeOf<{ placement: 'middle' }>().not.toExtend<Props>()
  expectTypeOf<{ model: () => Promise<string> }>().toExtend<Props>()
  expectTypeOf<NonNullable<Props['onplimsoll-message']>>().parameter(0).toHaveProperty('detail')
})
