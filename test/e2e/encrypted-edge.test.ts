/** What a disk holds of an edge that encrypts (T41). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encryptedEdgeVariables } from '../edge-variables.ts'
import { EdgeProcess } from './support/edge-process.ts'
import { type ModelServer, modelServer } from './support/model-server.ts'
import { tokenOf } from './support/token.ts'

const CANARY = 'canary'
/** Of an id, which stays in the clear: so that it is the right files that are looked through. */
const MARK = 'idmark'

let model: ModelServer
let edge: EdgeProcess

beforeAll(async () => {
  model = await modelServer()
  edge = await EdgeProcess.start({ ...encryptedEdgeVariables, MODEL_BASE_URL: model.url, MODEL_ID: 'tests' })
})

afterAll(async () => {
  await edge?.stop()
  await model?.close()
})

it('is nothing of what was said, neither before an erase nor after it', async () => {
  const token = await tokenOf('ada')
  const call = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const response = await fetch(`${edge.url}/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    expect([path, response.status, text]).toEqual([path, expect.toBeOneOf([200, 201, 204]), text])
    return text
  }
  const trip = `sessions/${MARK}`
  const content = `A ${CANARY} sang. `.repeat(400)
  const picture = { url: `data:image/png;base64,${btoa(`\x89PNG\r\n\x1a\n${`${CANARY} `.repeat(30)}`)}` }

  await call('POST', 'sessions', { session_id: MARK, title: `${CANARY} title`, project: `${CANARY} project` })
  await call('POST', `${trip}/messages`, { messages: [{ role: 'user', content, metadata: { of: CANARY } }] })
  await call('POST', `${trip}/facts`, { kind: 'preference', text: `A fact of the ${CANARY}.` })
  await call('POST', `${trip}/facts`, {
    kind: 'finding',
    text: `A finding of the ${CANARY}.`,
  })
  await call('PUT', `${trip}/checkpoint`, { value: { step: CANARY } })
  await call('PUT', 'me/profile/SOUL.md', { text: `Sings like a ${CANARY}.` })
  await call('PUT', 'me/skills/song', { description: `What a ${CANARY} sings.`, text: `${CANARY} song` })
  await call('PUT', `${trip}/parts/long/0`, `{"role":"user","content":"${CANARY}`, 'text/plain')
  model.queue([{ text: `The ${CANARY} replies.` }, { text: `It is a ${CANARY}.` }])
  expect(await call('POST', `${trip}/chat`, { message: `What does the ${CANARY} say?` })).toContain('replies')
  await call('POST', `${trip}/openai/chat/completions`, {
    model: 'plimsoll',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: picture }] }],
  })
  expect(await call('POST', `${trip}/context`, {})).toContain(CANARY)

  const before = edge.stored()
  expect([before.includes(MARK), before.includes('"wrapped"')]).toEqual([true, true])
  expect(found(before)).toEqual([])

  // Of all that was encrypted, and of each key that opens it under the secret.
  const keys = [...before.matchAll(/"(?:wrapped|key)":"([\w+/=]{60,})"/g)].map(([, key = '']) => key)
  const texts = [...before.matchAll(/p1\.[\w-]{11}\.[\w+/]{40}/g)].map(([text]) => text)
  expect([keys.length > 3, texts.length > 20]).toEqual([true, true])

  await call('DELETE', 'me')
  const after = edge.stored()
  expect(found(after)).toEqual([])
  expect(after).toContain(MARK)
  expect(keys.filter((key) => after.includes(key))).toEqual([])
  expect(texts.filter((text) => after.includes(text))).toEqual([])
})

it('says to everybody that its key is too weak, and lets nobody in', async () => {
  const weak = await EdgeProcess.start({ MEMORY_KEY: 'short' })
  try {
    for (const path of ['/health', '/v1/sessions']) {
      const response = await fetch(weak.url + path)
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({
        code: 'ERR_NOT_CONFIGURED',
        detail: 'encryption: MEMORY_KEY has fewer than 32 bytes',
      })
    }
  } finally {
    await weak.stop()
  }
})

/** Where it stands in some bytes, as text or as base64. */
function found(stored: string): readonly string[] {
  const shapes = [CANARY, btoa(CANARY), btoa(` ${CANARY}`).slice(2, 9), btoa(`  ${CANARY}`).slice(3, 10)]
  return shapes.flatMap((shape) => {
    const at = stored.toLowerCase().indexOf(shape.toLowerCase())
    return at < 0 ? [] : [stored.slice(Math.max(0, at - 200), at + 100)]
  })
}
