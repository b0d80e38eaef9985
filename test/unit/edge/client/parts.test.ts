import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BODY_BYTES, pack, slices } from '../../../../src/client/parts.ts'
import type { MessageInput } from '../../../../src/ports/message.ts'
import { fromWire, toWire } from '../../../../src/ports/wire.ts'
import { runs } from '../../support/runs.ts'
import { json, offline, scene } from './support.ts'

const bytesOf = (text: string): number => Buffer.byteLength(text)
const letters = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '漢', '\u2028', '🚆', '\ud83d', '\0'),
})

describe('slices of a text', () => {
  it('are together what it was, byte for byte, none too long and none with half a character', () => {
    fc.assert(
      fc.property(letters, fc.integer({ min: 4, max: 40 }), (value, bytes) => {
        const text = JSON.stringify(value)
        const parts = slices(text, bytes)
        expect(Buffer.concat(parts.map((part) => Buffer.from(part))).toString()).toBe(text)
        for (const part of parts) {
          expect(bytesOf(part)).toBeLessThanOrEqual(bytes)
          expect(part).not.toMatch(/\p{Surrogate}/u)
        }
        // As few as there can be, since a character takes at most four bytes.
        for (const part of parts.slice(0, -1)) expect(bytesOf(part)).toBeGreaterThan(bytes - 4)
      }),
      runs(100),
    )
  })
})

describe('messages of one append', () => {
  it('fit into its body, the largest in parts of their own, and say what they said', () => {
    const message = fc.record(
      {
        id: fc.uuid(),
        role: fc.constant('user' as const),
        content: fc
          .tuple(letters, fc.integer({ min: 0, max: 60_000 }))
          .map(([text, times]) => text.repeat(times)),
        createdAt: fc.nat(),
        metadata: fc.constant({ isMine: true }),
      },
      { requiredKeys: ['role', 'content'] },
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (given) => {
        let ids = 0
        const inputs = given as MessageInput[]
        const { long, messages } = pack(inputs, () => `id-${ids++}`)
        expect(messages).toHaveLength(inputs.length)
        expect(bytesOf(JSON.stringify(toWire(messages)))).toBeLessThan(1024 * 1024)
        const parts = new Map(long.map((one) => [one.id, one.parts]))
        for (const [index, sent] of messages.entries()) {
          const { id, parts: count } = sent as { readonly id?: string; readonly parts?: number }
          if (count === undefined) {
            expect(sent).toBe(inputs[index])
            continue
          }
          const slices = parts.get(id ?? '') ?? []
          expect(slices).toHaveLength(count)
          for (const slice of slices) expect(bytesOf(slice)).toBeLessThanOrEqual(BODY_BYTES)
          // Half a character travels as an escape.
          expect(fromWire(JSON.parse(slices.join('')))).toEqual({ ...inputs[index], id })
          expect(inputs[index]?.id ?? id).toBe(id)
        }
        const smallest = Math.min(...long.map(({ parts }) => bytesOf(parts.join(''))))
        for (const sent of messages)
          if (inputs.includes(sent as MessageInput))
            expect(bytesOf(JSON.stringify(sent))).toBeLessThanOrEqual(smallest)
      }),
      runs(60),
    )
  })
})

describe('a long message', () => {
  it('travels in parts before the append that names it, each sent again on its own', async () => {
    const content = '漢'.repeat(700_000)
    const append = { messages: [], repeated: false, mismatch: false }
    const { client, sent } = scene([json({}), offline, json({}), json({}), json(append)])
    await client.session('a/b').append(
      [
        { role: 'user', content },
        { role: 'assistant', content: 'Long.' },
      ],
      {
        opId: 'mine',
      },
    )
    const [first, cut, again, third, last] = sent
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
      'PUT /v1/sessions/a%2Fb/parts/op-1/0',
      'PUT /v1/sessions/a%2Fb/parts/op-1/1',
      'PUT /v1/sessions/a%2Fb/parts/op-1/1',
      'PUT /v1/sessions/a%2Fb/parts/op-1/2',
      'POST /v1/sessions/a%2Fb/messages',
    ])
    expect(first?.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(again?.headers.get('idempotency-key')).toBe(cut?.headers.get('idempotency-key'))
    expect(JSON.parse(`${first?.body}${again?.body}${third?.body}`)).toEqual({
      id: 'op-1',
      role: 'user',
      content,
    })
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
    expect([new Set(keys).size, keys.filter((key) => key === 'mine')]).toEqual([4, ['mine']])
    expect(JSON.parse(last?.body ?? '')).toEqual({
      messages: [
        { id: 'op-1', parts: 3 },
        { role: 'assistant', content: 'Long.' },
      ],
    })
  })

  it('of up to 900 KiB travels as it is', async () => {
    const { client, sent } = scene([json({})])
    await client.session('trip').append({ role: 'user', content: 'x'.repeat(900 * 1024 - 40) })
    await client.session('trip').append({ role: 'user', content: 'x'.repeat(900 * 1024) })
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT', 'POST'])
  })
})
