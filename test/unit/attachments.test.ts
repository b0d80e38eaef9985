import { describe, expect, it } from 'vitest'
import {
  type AttachmentInput,
  charsPerToken,
  defaultCounter,
  inlineAttachments,
  type MediaPart,
  mapStore,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { countMessage } from '../../src/kernel/count.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { attach, readAttachment } from '../../src/operations/attachments.ts'
import { nextWorkAt, runDueWork } from '../../src/operations/upkeep.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import { expectTexts } from '../render/texts.ts'

const DAY = 24 * 60 * 60 * 1000
const PNG = { mediaType: 'image/png', bytes: Uint8Array.of(137, 80, 78, 71, 0, 255) }

function open(store = mapStore()) {
  const time = { now: 1_000 }
  let ids = 0
  const memory = fullMemory({
    store,
    budget: 8_000,
    clock: () => time.now,
    newId: () => `id-${++ids}`,
  })
  return { memory, time, session: memory.session({ userId: 'ada', sessionId: 'trip' }) }
}

const say = (
  session: FullSession,
  ...content: Exclude<Parameters<FullSession['append']>[0], readonly unknown[]>['content'][]
) => session.append(content.map((one) => ({ role: 'user' as const, content: one })))

describe('an attachment', () => {
  it('is named by a part of a message, which holds no byte of it', async () => {
    const { session } = open()
    const part = await attach(session, { ...PNG, tokens: 90 })
    expect(part).toEqual({ type: 'media', mediaType: 'image/png', ref: 'id-1', tokens: 90 })
    await say(session, [{ type: 'text', text: 'What is this?' }, part])
    expect(await readAttachment(session, 'id-1')).toEqual({ id: 'id-1', ...PNG })
    const [message] = await session.history()
    expect(message?.content).toEqual([{ type: 'text', text: 'What is this?' }, part])
  })

  it('has a name in its message, which is counted and shown where a model gets no bytes', async () => {
    const { session } = open()
    const name = 'Tickets "to" Turin].pdf'
    const part = await attach(session, { ...PNG, mediaType: 'application/pdf', name, tokens: 90 })
    expect(part).toMatchObject({ name, ref: 'id-1' })
    await say(session, [part])
    const [message] = await session.history()
    expect(message?.content).toEqual([part])
    const shown = JSON.stringify('[application/pdf attachment "Tickets \\"to\\" Turin].pdf" id-1]')
    const context = await session.context()
    for (const request of [toOpenAI(context), toAnthropic(context)])
      expect(JSON.stringify(request)).toContain(shown)
    const { name: _, ...unnamed } = part
    for (const counter of [defaultCounter, charsPerToken()]) {
      const tokensOf = (given: MediaPart): number => countMessage(counter, { content: [given] })
      expect(tokensOf(part) - tokensOf(unnamed)).toBe(counter.count(name))
    }
  })

  it('may be given as an ArrayBuffer, and as a view of a part of one', async () => {
    const { session } = open()
    const all = Uint8Array.of(1, 2, 3, 4)
    const refs = [all.buffer, all.subarray(1, 3)].map((bytes) =>
      attach(session, { mediaType: 'audio/mp4', bytes }),
    )
    const read = await Promise.all(
      (await Promise.all(refs)).map(({ ref = '' }) => readAttachment(session, ref)),
    )
    expect(read.map(({ bytes }) => [...bytes])).toEqual([
      [1, 2, 3, 4],
      [2, 3],
    ])
  })

  it('is as it was when it was given, whatever is done to the bytes before the store has them', async () => {
    const store = changedStore(mapStore(), (inner) => ({
      attach: async (attachment, at) => {
        await Promise.resolve()
        return inner.attach(attachment, at)
      },
    }))
    const { session } = open(store)
    const bytes = PNG.bytes.slice()
    const attached = [bytes, bytes.buffer].map((given) => attach(session, { ...PNG, bytes: given }))
    bytes.fill(0)
    for (const { ref = '' } of await Promise.all(attached))
      expect(await readAttachment(session, ref)).toMatchObject(PNG)
  })

  it('that was deleted is not put again', async () => {
    const store = mapStore()
    const { session } = open(store)
    await attach(session, { ...PNG, id: 'logo' })
    const op = { kind: 'delete', opId: 'op-1', target: 'attachment:logo' } as const
    await store.open({ userId: 'ada', sessionId: 'trip' }).commit([sealOp(op)], decide)
    for (const call of [attach(session, { ...PNG, id: 'logo' }), readAttachment(session, 'logo')])
      await expect(call).rejects.toMatchObject({ code: 'ERR_NOT_FOUND', id: 'logo' })
  })

  it('repeated under its id is a no-op; other bytes under it, or another type, are refused', async () => {
    const { session } = open()
    const given = { ...PNG, id: 'logo' }
    expect(await attach(session, given)).toEqual(await attach(session, given))
    for (const other of [
      { bytes: Uint8Array.of(1) },
      { bytes: Uint8Array.of(...PNG.bytes, 1) },
      { bytes: PNG.bytes.slice(1) },
      { bytes: PNG.bytes.map((byte) => byte ^ 1) },
      { mediaType: 'image/gif' },
    ])
      await expect(attach(session, { ...given, ...other })).rejects.toMatchObject({
        code: 'ERR_DUPLICATE_ID',
        id: 'logo',
      })
    expect(await readAttachment(session, 'logo')).toEqual(given)
  })

  it('is refused before anything is written when it is not one, or above 8 MiB', async () => {
    const { session, memory } = open()
    const wrong: [Partial<AttachmentInput>, string][] = [
      [{ mediaType: 'png' }, 'mediaType'],
      [{ mediaType: 'image/png\n' }, 'mediaType'],
      [{ mediaType: `image/${'x'.repeat(128)}` }, 'mediaType'],
      [{ mediaType: 7 as never }, 'mediaType'],
      [{ bytes: 'data:' as never }, 'bytes'],
      [{ bytes: [1] as never }, 'bytes'],
      [{ id: '' }, 'id'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(257) }, 'name'],
      [{ tokens: -1 }, 'tokens'],
    ]
    for (const [part, argument] of wrong)
      await expect(attach(session, { ...PNG, ...part })).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument,
      })
    await expect(attach(session, undefined as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    const limit = 8 * 2 ** 20
    await expect(attach(session, { ...PNG, bytes: new Uint8Array(limit + 1) })).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
      size: limit + 1,
      limit,
    })
    expect(await nextWorkAt(memory)).toBeUndefined()
    await attach(session, { mediaType: 'text/plain; charset=utf-8', bytes: new Uint8Array(limit) })
  })

  it('that is not there is an error that names it', async () => {
    const { session } = open()
    await expect(readAttachment(session, 'nowhere')).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      id: 'nowhere',
    })
    await expect(readAttachment(session, '')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })
})

describe('due work', () => {
  it('removes an attachment that no message named within a day, and none that one did', async () => {
    const { memory, session, time } = open()
    expect(await nextWorkAt(memory)).toBeUndefined()
    expect(await runDueWork(memory)).toBeUndefined()
    const named = await attach(session, PNG)
    time.now += 5
    const unnamed = await attach(session, PNG)
    expect(await nextWorkAt(memory)).toBe(1_000 + DAY)
    await say(session, [named])
    expect(await nextWorkAt(memory)).toBe(1_005 + DAY)

    time.now = 1_005 + DAY - 1
    expect(await runDueWork(memory)).toBe(1_005 + DAY)
    await readAttachment(session, unnamed.ref ?? '')
    time.now += 1
    expect(await runDueWork(memory)).toBeUndefined()
    await expect(readAttachment(session, unnamed.ref ?? '')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(await readAttachment(session, named.ref ?? '')).toMatchObject(PNG)
  })

  it('counts a message that was refused as none', async () => {
    const { memory, session } = open()
    const part = await attach(session, PNG)
    await session.append({ id: 'm1', role: 'user', content: 'Hi.' })
    const again = { id: 'm1', role: 'user' as const, content: [part] }
    await expect(session.append(again, { opId: 'other' })).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID' })
    expect(await nextWorkAt(memory)).toBe(1_000 + DAY)
  })

  it('is done a part at a time, and says when to go on', async () => {
    const { memory, session, time } = open()
    for (let count = 0; count < 40; count++) await attach(session, PNG)
    time.now += 2 * DAY
    expect(await runDueWork(memory)).toBe(1_000 + DAY)
    expect(await runDueWork(memory)).toBeUndefined()
  })
})

describe('inlineAttachments', () => {
  it('gives providers the pictures themselves, each read once, and the same bytes each time', async () => {
    const reads: string[] = []
    const store = changedStore(mapStore(), (inner) => ({
      attachment: (id) => {
        reads.push(id)
        return inner.attachment(id)
      },
    }))
    const { session } = open(store)
    const part = await attach(session, PNG)
    await say(session, [{ type: 'text', text: 'What is this?' }, part], [part])
    const context = await session.context()
    const inlined = await inlineAttachments(context, (ref) => readAttachment(session, ref))
    expect(reads).toEqual([part.ref])
    const url = 'data:image/png;base64,iVBORwD/'
    expect(JSON.stringify(toOpenAI(inlined)).split(url).length).toBe(3)
    expect(JSON.stringify(toAnthropic(inlined)).split('"data":"iVBORwD/"').length).toBe(3)
    expect(JSON.stringify(toOpenAI(context))).toContain(`[image/png attachment ${part.ref}]`)
    expect(await inlineAttachments(context, (ref) => readAttachment(session, ref))).toEqual(inlined)
    expectTexts(inlined)
    expectTexts(context)
    const again = await inlineAttachments(inlined, (ref) => readAttachment(session, ref))
    expect(again.blocks.map((block, index) => block === inlined.blocks[index])).not.toContain(false)
  })

  it('leaves as it is what is no picture, what has a URL, and what is gone', async () => {
    const { session } = open()
    const { ref = '' } = await attach(session, PNG)
    const sound = await attach(session, { ...PNG, mediaType: 'audio/mp4' })
    const linked = {
      type: 'media',
      mediaType: 'image/png',
      ref,
      url: 'https://example.com/x.png',
    } as const
    const gone = { type: 'media', mediaType: 'image/png', ref: 'gone' } as const
    await say(session, [sound, linked, gone])
    const context = await session.context()
    expect(await inlineAttachments(context, (ref) => readAttachment(session, ref))).toEqual(context)
  })

  it('fails when the store does, rather than leave a picture out', async () => {
    const store = changedStore(mapStore(), () => ({ attachment: () => Promise.reject(new Error('disk')) }))
    const { session } = open(store)
    await say(session, [await attach(session, PNG)])
    await expect(
      inlineAttachments(await session.context(), (ref) => readAttachment(session, ref)),
    ).rejects.toThrow('disk')
  })

  it('takes a picture of some megabytes', async () => {
    const { session } = open()
    const bytes = Uint8Array.from({ length: 3_000_001 }, (_, at) => at % 256)
    await say(session, [await attach(session, { ...PNG, bytes })])
    const { blocks } = await inlineAttachments(await session.context(), (ref) => readAttachment(session, ref))
    const [part] = blocks.at(-1)?.parts ?? []
    const url = part?.type === 'media' ? (part.url ?? '') : ''
    expect(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64').equals(bytes)).toBe(true)
  })
})
