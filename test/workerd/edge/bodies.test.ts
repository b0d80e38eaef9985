import { describe, expect, it } from 'vitest'
import { Caller } from './caller.ts'
import { changedIn, stateOf } from './rows.ts'

const MEBIBYTE = 2 ** 20
/** Routes that read a body, each in its own way: JSON, text, bytes. */
type Path = readonly [method: string, path: string, type: string]
const PATHS: readonly Path[] = [
  ['POST', '/v1/sessions/SESSION/messages', 'application/json'],
  ['POST', '/v1/sessions/SESSION/chat', 'application/json'],
  ['PUT', '/v1/sessions/SESSION/parts/m1/0', 'text/plain'],
  ['PUT', '/v1/me/profile/about', 'application/json'],
  ['PUT', '/v1/me/skills/booking', 'text/markdown'],
  ['POST', '/v1/sessions/SESSION/openai/chat/completions', 'application/json'],
  ['POST', '/v1/sessions/SESSION/mcp', 'application/json'],
]

/** `size` bytes that come in chunks, and whether all of them were asked for. */
function chunked(size: number, chunk = 64 * 1024) {
  let sent = 0
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= size) return controller.close()
      controller.enqueue(new Uint8Array(Math.min(chunk, size - sent)).fill(0x20))
      sent += chunk
    },
  })
  return { stream, sent: () => sent }
}

async function opened() {
  const caller = new Caller()
  const session = await caller.session()
  const before = await stateOf(caller.user, session)
  const send = ([method, path, type]: Path, body: BodyInit, headers: Record<string, string> = {}) =>
    caller.fetch(method, path.replace('SESSION', session), {
      body,
      headers: { 'Content-Type': type, Accept: 'application/json, text/event-stream', ...headers },
    })
  return {
    caller,
    session,
    send,
    changed: async () => changedIn(before, await stateOf(caller.user, session)),
  }
}

describe('a body that is too large or not what it says (T32)', () => {
  it.each(PATHS)('is read no further than its limit where it comes in chunks: %s %s', async (...path) => {
    const { send, changed } = await opened()
    const { stream, sent } = chunked(10 * MEBIBYTE)
    const response = await send(path, stream)
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('ERR_ENTRY_TOO_LARGE')
    // What was read ahead may be a few chunks, and never the rest.
    expect(sent()).toBeLessThan(3 * MEBIBYTE)
    expect(await changed()).toEqual([])
  })

  it.each(PATHS)('is refused by the length that it claims before it is read: %s %s', async (...path) => {
    const { send, changed } = await opened()
    const response = await send(path, 'x'.repeat(10 * MEBIBYTE))
    expect(response.status).toBe(413)
    await response.body?.cancel()
    expect(await changed()).toEqual([])
  })

  it.each(PATHS)('is refused where it is packed: %s %s', async (...path) => {
    const { send, changed } = await opened()
    const packed = new Response('{"messages":[]}').body?.pipeThrough(new CompressionStream('gzip'))
    for (const encoding of ['gzip', 'br', 'gzip, identity', 'x']) {
      const body = await new Response(packed?.locked ? '{}' : packed).arrayBuffer()
      const response = await send(path, body, { 'Content-Encoding': encoding })
      expect([encoding, response.status]).toEqual([encoding, 415])
      await response.body?.cancel()
    }
    expect(await changed()).toEqual([])
  })

  it('is read where its length claims less or nothing that is a number', async () => {
    const { caller, session } = await opened()
    for (const claim of ['1', '-1', 'NaN', '1e9', '0x10', '']) {
      const response = await caller.fetch('POST', `/v1/sessions/${session}/messages`, {
        headers: { 'Content-Type': 'application/json', 'Content-Length': claim },
        body: new Response('{"messages":[{"role":"user","content":"Hi."}]}').body,
      })
      // Of a real connection the runtime has read as many bytes as were claimed; what is left is no
      // JSON, or a request of its own.
      expect([claim, [200, 400, 413].includes(response.status)]).toEqual([claim, true])
      await response.body?.cancel()
    }
  })

  it('of a mebibyte is taken, and of one byte more is not', async () => {
    const { send, changed } = await opened()
    const path: Path = ['PUT', '/v1/sessions/SESSION/parts/m1/0', 'text/plain']
    const over = await send(path, 'x'.repeat(MEBIBYTE + 1))
    expect(over.status).toBe(413)
    expect(await changed()).toEqual([])
    expect((await send(path, 'x'.repeat(MEBIBYTE))).status).toBe(204)
    expect(await changed()).not.toEqual([])
  })

  it.each([
    ['nested too deep', `{"messages":${'['.repeat(41)}${']'.repeat(41)}}`],
    ['nested 100 000 levels deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['of too many keys', `{${Array.from({ length: 20_001 }, (_, index) => `"k${index}":1`)}}`],
  ])('is refused before it is parsed where it is %s', async (_, body) => {
    const { send, changed } = await opened()
    for (const path of PATHS.filter(([, , type]) => type === 'application/json')) {
      const response = await send(path, body)
      expect([path[1], response.status]).toEqual([path[1], 400])
      await response.body?.cancel()
    }
    expect(await changed()).toEqual([])
  })

  it.each(PATHS)('is refused where it is no UTF-8: %s %s', async (...path) => {
    const { send, changed } = await opened()
    const response = await send(path, new Uint8Array([0x22, 0xc3, 0x28, 0x22]))
    expect(response.status).toBe(400)
    await response.body?.cancel()
    expect(await changed()).toEqual([])
  })

  it('is refused where its type is another, since a page may send text without asking', async () => {
    const { caller, session, changed } = await opened()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json5', undefined]) {
      const response = await caller.fetch('POST', `/v1/sessions/${session}/messages`, {
        headers: type === undefined ? {} : { 'Content-Type': type },
        body: new TextEncoder().encode('{"messages":[{"role":"user","content":"Hi."}]}'),
      })
      expect([type, response.status]).toEqual([type, 415])
      expect(await response.json()).toMatchObject({ argument: 'Content-Type' })
    }
    expect(await changed()).toEqual([])
  })
})
