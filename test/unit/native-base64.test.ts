import { expect, it } from 'vitest'
import { fromNativeBase64, nativeBase64 } from '../../src/platform/native-base64.ts'
import { base64 } from '../../src/ports/base64.ts'

const BYTES = Array.from({ length: 40 }, (_, length) =>
  Uint8Array.from({ length }, (_, index) => (index * 89 + length * 7) % 256),
)

it('is the same base64 with and without the functions of the engine', () => {
  for (const bytes of BYTES) {
    const text = base64(bytes)
    expect(nativeBase64(bytes)).toBe(text)
    expect(fromNativeBase64(text)).toEqual(bytes)
    const given = Object.assign(Uint8Array.from(bytes), { toBase64: () => 'by the engine' })
    expect(nativeBase64(given)).toBe('by the engine')
  }
})

it('is undefined for what is no base64, by either decoder', () => {
  const wrong = ['A', 'AB=', '=AAA', 'A*==', '"AA"']
  for (const text of wrong) expect(fromNativeBase64(text)).toBeUndefined()
  const before = Object.getOwnPropertyDescriptor(Uint8Array, 'fromBase64')
  const fromBase64 = (text: string) => {
    if (text === 'wrong') throw new SyntaxError('no base64')
    return Uint8Array.of(1)
  }
  Object.defineProperty(Uint8Array, 'fromBase64', { value: fromBase64, configurable: true })
  try {
    expect(fromNativeBase64('wrong')).toBeUndefined()
    expect(fromNativeBase64('AAAA')).toEqual(Uint8Array.of(1))
  } finally {
    if (before) Object.defineProperty(Uint8Array, 'fromBase64', before)
    else Reflect.deleteProperty(Uint8Array, 'fromBase64')
  }
})
