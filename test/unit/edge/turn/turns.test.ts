import type { UIMessage } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { parseChatRequest } from '../../../../src/edge/turn/chat-request.ts'
import { SSE_DONE } from '../../../../src/edge/turn/protocol.ts'
import type { EndedRun } from '../../../../src/edge/turn/turns-options.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { PlimsollError } from '../../../../src/ports/errors.ts'
import type { Host } from '../../../../src/ports/host.ts'
import type { Model } from '../../../../src/ports/model.ts'
import {
  chunksIn,
  messageOf,
  openScene,
  plain,
  request,
  type Scene,
  submit,
  textOf,
  user,
} from '../support/chats.ts'

const HOUR = 3_600_000

/** A host whose timers run out when they are told to. */
function handHost(): Host & { pass(ms: number): void; waits(): readonly number[] } {
  let now = 1_000_000
  const timers = new Set<{ readonly due: number; readonly fire: () => void }>()
  return {
    ...webHost,
    now: () => now,
    timeout: (ms) => {
      const { signal, abort } = controllerOf()
      const timer = { due: now + ms, fire: abort }
      timers.add(timer)
      return { signal, clear: () => timers.delete(timer) }
    },
    waits: () => [...timers].map(({ due }) => due - now),
    pass: (ms) => {
      now += ms
      for (const timer of [...timers])
        if (timer.due <= now) {
          timers.delete(timer)
          timer.fire()
        }
    },
  }
}

function controllerOf() {
  const controller = webHost.controller()
  return { signal: controller.signal, abort: () => controller.abort(new Error('late')) }
}

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Reads until what was read says so. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const readerOf = (stream: AsyncIterable<Uint8Array> | undefined) =>
  (stream instanceof ReadableStream
    ? (stream as ReadableStream<Uint8Array>)
    : ReadableStream.from(stream as AsyncIterable<Uint8Array>)
  ).getReader()
const errorIn = (text: string) => chunksIn(text).find((chunk) => chunk.type === 'error')?.errorText
const inserts = ({ storage }: Scene): number =>
  storage.said.filter((statement) => statement.startsWith('INSERT INTO plimsoll_edge_chunk')).length

describe('a run', () => {
  it('streams, and reads the same for all who come, before its end and after', async () => {
    const last = gate()
    const { chats, reload } = openScene([{ text: 'It leaves at 9:40.', until: last.opened }])
    const { run, stream } = await chats.start(submit(user('u1', 'When?')))
    expect(chats.current).toBe(run)
    const early = readerOf(stream)
    const beginning = await readUntil(early, ' at')
    const joined = chats.resume('current')
    const named = chats.resume(run)
    expect([joined?.run, named?.run]).toEqual([run, run])
    last.open()
    const whole = beginning + (await readUntil(early, SSE_DONE))
    expect(await textOf(joined?.stream as never)).toBe(whole)
    expect(await textOf(named?.stream as never)).toBe(whole)
    expect(await textOf(chats.resume(run)?.stream as never)).toBe(whole)
    expect(whole.match(/\[DONE\]/g)).toHaveLength(1)
    expect(await messageOf(chunksIn(whole))).toEqual(plain((await reload())[1] as UIMessage))
    expect(chats.current).toBeUndefined()
    expect(chats.resume('current')).toBeUndefined()
    expect(chats.resume('another')).toBeUndefined()
  })

  it('goes on when everybody leaves', async () => {
    const last = gate()
    const { chats, reload } = openScene([{ text: 'It leaves at 9:40.', until: last.opened }])
    const { stream } = await chats.start(submit(user('u1', 'When?')))
    await readerOf(stream).cancel()
    last.open()
    await vi.waitFor(async () => expect(await reload()).toHaveLength(2))
  })

  it('is the only one of its session, but for who sends the same again', async () => {
    const last = gate()
    const { chats, model, session } = openScene([{ text: 'It leaves at 9:40.', until: last.opened }])
    const asked = submit(user('u1', 'When?'))
    // At once, before the first has begun, and while it goes on.
    const both = await Promise.all([chats.start(asked), chats.start(asked)])
    const third = await chats.start(asked)
    await expect(chats.start(submit(user('u2', 'And back?')))).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
      id: both[0].run,
    })
    last.open()
    const texts = await Promise.all([...both, third].map(({ stream }) => textOf(stream)))
    expect(new Set(texts).size).toBe(1)
    const again = await chats.start(asked)
    expect(again.run).toBe(both[0].run)
    expect(await textOf(again.stream)).toBe(texts[0])
    expect(model.calls).toBe(1)
    expect(await session.history()).toHaveLength(2)
  })

  it('is given again for its key, though others followed, and refused where the key says something else', async () => {
    const { chats, model } = openScene([{ text: 'One.' }, { text: 'Two.' }])
    const first = request({ message: 'First' }, 'k1')
    const text = await textOf((await chats.start(first)).stream)
    await textOf((await chats.start(request({ message: 'Second' }, 'k2'))).stream)
    expect(await textOf((await chats.start(first)).stream)).toBe(text)
    await expect(chats.start(request({ message: 'Other' }, 'k1'))).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
    expect(model.calls).toBe(2)
  })

  it('for another reply is a new one each time, but for who sends the same again while it goes on', async () => {
    const last = gate()
    const { chats, model } = openScene([
      { text: 'One.' },
      { text: 'Two, at last.', until: last.opened },
      { text: 'Three.' },
    ])
    await textOf((await chats.start(submit(user('u1', 'Count')))).stream)
    const again = request({ trigger: 'regenerate-message', messages: [user('u1', 'Count')] })
    const [one, same] = await Promise.all([chats.start(again), chats.start(again)])
    expect(one.run).toBe(same.run)
    last.open()
    await textOf(one.stream)
    expect(await textOf((await chats.start(again)).stream)).toContain('Three.')
    expect(model.calls).toBe(3)
  })

  it('for the reply that is named is given again to who names it again', async () => {
    const { chats, model, reload } = openScene([{ text: 'One.' }, { text: 'Two.' }])
    await textOf((await chats.start(submit(user('u1', 'Count')))).stream)
    const messageId = (await reload())[1]?.id
    const again = request({ trigger: 'regenerate-message', messageId, messages: [user('u1', 'Count')] })
    const text = await textOf((await chats.start(again)).stream)
    expect(await textOf((await chats.start(again)).stream)).toBe(text)
    expect(model.calls).toBe(2)
  })

  it('for an edit is a new one where another edit came between', async () => {
    const { chats, model, reload } = openScene(['One.', 'Two.', 'Three.', 'Four.'].map((text) => ({ text })))
    await textOf((await chats.start(submit(user('u1', 'A')))).stream)
    for (const text of ['B', 'C', 'B', 'B'])
      await textOf((await chats.start(request({ messages: [user('u1', text)], messageId: 'u1' }))).stream)
    expect(model.calls).toBe(4)
    expect(JSON.stringify(await reload())).toContain('Four.')
  })

  it('is given again from the record once it is not kept any more', async () => {
    const host = handHost()
    const { chats, model, reload } = openScene([{ text: 'One.' }, { text: 'Two.' }], { host })
    await textOf((await chats.start(submit(user('u1', 'First')))).stream)
    await textOf((await chats.start(submit(user('u2', 'Second')))).stream)
    host.pass(HOUR)
    chats.runDueWork()
    for (const place of [0, 2]) {
      const asked = (await reload())[place] as UIMessage
      const chunks = chunksIn(await textOf((await chats.start(submit(asked))).stream))
      expect(await messageOf(chunks)).toEqual((await reload())[place + 1])
      expect(chunks.at(-1)?.type).toBe('finish')
    }
    expect(model.calls).toBe(2)
  })
})

describe('what goes wrong before a run begins', () => {
  it('is thrown, and leaves no run', async () => {
    const { chats, storage, model } = openScene([], {}, undefined, 50)
    const long = submit(user('u1', 'very '.repeat(200)))
    for (let time = 0; time < 2; time++)
      await expect(chats.start(long)).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
    expect(model.calls).toBe(0)
    expect(chats.resume('current')).toBeUndefined()
    expect(storage.sql.exec('SELECT * FROM plimsoll_edge_run').toArray()).toEqual([])
    expect(chats.nextWorkAt()).toBeUndefined()
  })

  it('leaves no chunk, though some had been written', async () => {
    const host = handHost()
    const { chats, storage } = openScene([{ text: 'Hi' }], {
      host,
      beforeModel: () => {
        throw new PlimsollError('ERR_RATE_LIMIT', 'the budget is used up', { retryAfter: 9 })
      },
    })
    await expect(chats.start(submit(user('u1', 'Hello')))).rejects.toMatchObject({
      code: 'ERR_RATE_LIMIT',
      retryAfter: 9,
    })
    host.pass(1_000)
    expect(storage.sql.exec('SELECT * FROM plimsoll_edge_chunk').toArray()).toEqual([])
  })

  it('writes nothing where there is no model', async () => {
    const { chats, session } = openScene([], {
      model: () => {
        throw new PlimsollError('ERR_NOT_CONFIGURED', 'chat: there is no model')
      },
    })
    await expect(chats.start(submit(user('u1', 'Hello')))).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
    })
    expect(await session.history()).toEqual([])
  })
})

describe('a run that fails', () => {
  it('says so with a code and no more, and the same request tries again', async () => {
    const ends: EndedRun[] = []
    const { chats, reload } = openScene(
      [{ text: 'It leaves', fails: true }, { text: 'It leaves at 9:40.' }],
      {
        onEnd: (end) => ends.push(end),
      },
    )
    const asked = submit(user('u1', 'When?'))
    const text = await textOf((await chats.start(asked)).stream)
    expect(errorIn(text)).toBe('ERR_MODEL: the model failed; try again')
    expect(text).not.toContain('secret')
    expect(text.endsWith(SSE_DONE)).toBe(true)
    expect(ends).toEqual([
      {
        ...{ run: expect.any(String), status: 'failed', code: 'ERR_MODEL', steps: 0, size: text.length },
        ...{ model: 'replies', calls: 1, unreported: 1, tokens: expect.any(Number) },
        ...{ epoch: expect.any(String), milliseconds: expect.any(Number) },
        ...{ inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 },
      },
    ])
    await textOf((await chats.start(asked)).stream)
    expect((await reload()).map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(ends[1]).toMatchObject({
      ...{ status: 'done', steps: 1, calls: 1, unreported: 0, inputTokens: 10, outputTokens: 5 },
    })
  })

  it('by an error of ours that only a caller of ours could have made says nothing of it', async () => {
    const { chats } = openScene([], {
      model: () => ({
        id: 'm',
        // biome-ignore lint/correctness/useYield: it fails before it says anything.
        async *complete() {
          throw new PlimsollError('ERR_INVALID_ARGUMENT', 'secret')
        },
      }),
    })
    expect(errorIn(await textOf((await chats.start(submit(user('u1', 'When?')))).stream))).toMatch(
      /^ERR_MODEL: /,
    )
  })

  it('for a reply that cannot be stored reads no more of it', async () => {
    let pieces = 0
    const model: Model = {
      id: 'endless',
      async *complete() {
        for (; pieces < 20; pieces++) yield { type: 'text', text: 'x'.repeat(2 ** 20) }
      },
    }
    const { chats } = openScene([], { model: () => model })
    const { stream } = await chats.start(submit(user('u1', 'Go on')))
    expect(errorIn(await textOf(stream))).toBe('ERR_ENTRY_TOO_LARGE: the reply is too large')
    expect(pieces).toBe(8)
  })

  it('in a later step for its budget says that', async () => {
    let calls = 0
    const { chats } = openScene([{ calls: [{ name: 'add', input: { a: 1, b: 1 } }] }, { text: '2' }], {
      beforeModel: () => {
        if (++calls > 1) throw new PlimsollError('ERR_RATE_LIMIT', 'the budget is used up', { retryAfter: 9 })
      },
    })
    const text = await textOf((await chats.start(submit(user('u1', 'Add')))).stream)
    expect(errorIn(text)).toMatch(/^ERR_RATE_LIMIT: /)
    expect(text).toContain('tool-output-available')
  })

  it('for its storage says so to who reads it, and to who comes later that it was interrupted', async () => {
    const last = gate()
    const scene = openScene([{ text: 'It leaves at 9:40.', until: last.opened }, { text: 'Here.' }])
    const { run, stream } = await scene.chats.start(submit(user('u1', 'When?')))
    scene.storage.failAt(['INSERT INTO plimsoll_edge_chunk', 'UPDATE plimsoll_edge_run'])
    scene.chats.runDueWork()
    const text = await textOf(stream)
    expect(errorIn(text)).toBe('ERR_STORAGE_FULL: there is no room left')
    scene.storage.failAt(undefined)
    expect(errorIn(await textOf(scene.chats.resume(run)?.stream as never))).toMatch(/^ERR_INTERRUPTED: /)
    await textOf((await scene.chats.start(submit(user('u2', 'Hello?')))).stream)
    expect((await scene.reload()).map(({ role }) => role)).toEqual(['user', 'user', 'assistant'])
    last.open()
  })

  it('for storage that works again is kept as it was read', async () => {
    const never = gate()
    const { chats, storage } = openScene([{ text: 'It leaves at 9:40.', until: never.opened }])
    const { run, stream } = await chats.start(submit(user('u1', 'When?')))
    storage.failAt('INSERT INTO plimsoll_edge_chunk', 1)
    chats.runDueWork()
    const text = await textOf(stream)
    expect(errorIn(text)).toMatch(/^ERR_STORAGE_FULL: /)
    expect(await textOf(chats.resume(run)?.stream as never)).toBe(text)
    never.open()
  })

  it('tells the budget what each call took, also one that failed', async () => {
    const asked: number[] = []
    const told: unknown[] = []
    const { chats, reload } = openScene([{ text: 'Hi' }, { text: 'Oh', fails: true }], {
      beforeModel: (tokens) => void asked.push(tokens),
      afterModel: (usage, { receipt }) => {
        told.push([usage, receipt.used])
        throw new Error('nobody minds')
      },
    })
    await textOf((await chats.start(submit(user('u1', 'Hello')))).stream)
    await textOf((await chats.start(submit(user('u2', 'Hello')))).stream)
    expect(asked.every((tokens) => tokens > 0)).toBe(true)
    expect((await reload()).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(told).toEqual([
      [{ inputTokens: 10, outputTokens: 5 }, asked[0]],
      [{}, asked[1]],
    ])
  })
})

describe('a run that is stopped', () => {
  it('ends its stream, keeps what it had recorded, and the next one answers the calls that wait', async () => {
    const never = gate()
    const slow = { name: 'slow', inputSchema: {}, execute: () => never.opened }
    const scene = openScene(
      [{ text: 'Let me see.', calls: [{ name: 'slow', input: {} }] }, { text: 'Here.' }],
      { tools: () => [slow] },
    )
    const { run, stream } = await scene.chats.start(submit(user('u1', 'When?')))
    const reader = readerOf(stream)
    await readUntil(reader, 'tool-input-available')
    expect(await scene.chats.stop('another')).toBe(false)
    expect(await scene.chats.stop(run)).toBe(true)
    expect(await scene.chats.stop('current')).toBe(false)
    const rest = chunksIn(await readUntil(reader, SSE_DONE))
    expect(rest.map(({ type }) => type)).toEqual(['abort'])
    expect((await scene.session.history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
    await textOf((await scene.chats.start(submit(user('u2', 'Still there?')))).stream)
    const shown = await scene.reload()
    expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(shown[1]?.parts.at(-1)).toMatchObject({ state: 'output-error' })
    never.open()
  })

  it('before its first context was built ends as well', async () => {
    const never = gate()
    const { chats } = openScene([{ text: 'Hi' }], { beforeModel: () => never.opened })
    const started = chats.start(submit(user('u1', 'Hello')))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await chats.stop('current')).toBe(true)
    expect(chunksIn(await textOf((await started).stream)).map(({ type }) => type)).toEqual(['start', 'abort'])
    never.open()
  })
})

describe('a run whose object is restarted', () => {
  it('ends with an error for who reads on, and the same request goes on with what was recorded', async () => {
    const never = gate()
    const scene = openScene([
      { text: 'A sum.', calls: [{ name: 'add', input: { a: 2, b: 3 } }] },
      { text: 'It is 5.', until: never.opened },
    ])
    const asked = submit(user('u1', 'Add'))
    const { run, stream } = await scene.chats.start(asked)
    await readUntil(readerOf(stream), ' is')
    scene.chats.runDueWork()
    const after = scene.restart([{ text: 'It is five.' }])
    expect(after.chats.current).toBeUndefined()
    const texts = [
      await textOf(after.chats.resume('current')?.stream as never),
      await textOf(after.chats.resume(run)?.stream as never),
      await textOf(after.restart().chats.resume('current')?.stream as never),
    ]
    expect(new Set(texts).size).toBe(1)
    const [text = ''] = texts
    expect(text).toContain(' is')
    expect(text.match(/\[DONE\]/g)).toHaveLength(1)
    expect(errorIn(text)).toBe('ERR_INTERRUPTED: the reply was interrupted; ask for it again')
    const again = await textOf((await after.chats.start(asked)).stream)
    expect(await messageOf(chunksIn(again))).toEqual((await after.reload())[1])
    expect((await after.reload())[1]?.parts.at(-1)).toMatchObject({ text: 'It is five.' })
    expect(after.chats.resume('current')).toBeUndefined()
    never.open()
  })

  it('leaves a conversation that goes on, the calls that waited answered', async () => {
    const never = gate()
    const slow = { name: 'slow', inputSchema: {}, execute: () => never.opened }
    const scene = openScene([{ calls: [{ name: 'slow', input: {} }] }], { tools: () => [slow] })
    const { stream } = await scene.chats.start(submit(user('u1', 'When?')))
    await readUntil(readerOf(stream), 'tool-input-available')
    const after = scene.restart([{ text: 'Here.' }])
    const again = request({ trigger: 'submit-message', messages: [user('u1', 'When?')] })
    const { run, stream: goesOn } = await after.chats.start(again)
    const text = await textOf(goesOn)
    const [, shown] = await after.reload()
    expect(await messageOf(chunksIn(text))).toEqual(shown)
    expect(shown?.parts.map(({ type }) => type)).toEqual(['step-start', 'tool-slow', 'step-start', 'text'])
    expect(await textOf(after.chats.resume(run)?.stream as never)).toBe(text)
    never.open()
  })
})

describe('a run that goes on with calls that a page answered', () => {
  it('streams what is new to the page, and all of it to who resumes', async () => {
    const { chats, session, reload } = openScene([{ text: 'In Turin.' }])
    await session.append({ role: 'user', content: 'Where am I?', id: 'u1' })
    const call = { type: 'tool-call', id: 'c1', name: 'locate', input: {} } as const
    await session.append({ role: 'assistant', content: [{ type: 'text', text: 'See.' }, call], id: 'a1' })
    const [asked, reply] = (await reload()) as [UIMessage, UIMessage]
    const answered: UIMessage = {
      ...reply,
      parts: reply.parts.map((part) =>
        part.type === 'tool-locate'
          ? ({ ...part, state: 'output-available', output: 'Turin' } as never)
          : part,
      ),
    }
    const body = { messages: [asked, answered], messageId: 'a1', trigger: 'submit-message' }
    const { run, stream } = await chats.start(request(body))
    const text = await textOf(stream)
    expect(text).not.toContain('See.')
    const [, shown] = await reload()
    expect(shown?.parts.at(-1)).toMatchObject({ text: 'In Turin.' })
    expect(await messageOf(chunksIn(text), structuredClone(answered))).toEqual(shown)
    expect(await messageOf(chunksIn(await textOf(chats.resume(run)?.stream as never)))).toEqual(shown)
    const again = await chats.start(request(body))
    expect([again.run, await textOf(again.stream)]).toEqual([run, text])
  })
})

describe('what a run streams', () => {
  it('is stored at its end, and meanwhile where the object is woken, without a timer', async () => {
    const host = handHost()
    const last = gate()
    const scene = openScene([{ text: `${'word '.repeat(300)}end`, until: last.opened }], { host })
    const { run, stream } = await scene.chats.start(submit(user('u1', 'Go on')))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(inserts(scene)).toBe(0)
    // Of the model alone, which the object's own host keeps no timer for.
    expect(host.waits()).toEqual([300_000])
    scene.chats.runDueWork()
    expect(inserts(scene)).toBe(1)
    scene.chats.runDueWork()
    expect(inserts(scene)).toBe(1)
    last.open()
    const text = await textOf(stream)
    expect(text).toContain('end')
    // The end is in the row of the run.
    expect(inserts(scene)).toBe(1)
    expect(await textOf(scene.chats.resume(run)?.stream as never)).toBe(text)
  })

  it('is stored at once where it is long, and where nothing was for 15 seconds', async () => {
    const host = handHost()
    const last = gate()
    const scene = openScene([{ text: `One ${'word'.repeat(20_000)} end`, until: last.opened }], { host })
    const { stream } = await scene.chats.start(submit(user('u1', 'Go on')))
    await expect.poll(() => inserts(scene)).toBe(1)
    host.pass(15_000)
    last.open()
    await textOf(stream)
    // The last word; the end of it all is in the row of the run.
    expect(inserts(scene)).toBe(2)
  })

  it('is waited for no longer by who has left', async () => {
    const host = handHost()
    const never = gate()
    const { chats } = openScene([{ text: 'It leaves', until: never.opened }], { host })
    const { run } = await chats.start(submit(user('u1', 'When?')))
    const reader = readerOf(chats.resume(run)?.stream)
    await readUntil(reader, 'It')
    const more = reader.read()
    expect(host.waits()).toContain(15_000)
    await reader.cancel()
    expect((await more).done).toBe(true)
    expect(host.waits()).not.toContain(15_000)
    never.open()
  })

  it('is read byte by byte the same by who is slow, however long it is', async () => {
    const big = '☃𝄞'.repeat(120_000)
    const scene = openScene([{ text: `One ${big} two ${big} three` }])
    const { run, stream } = await scene.chats.start(submit(user('u1', 'Go on')))
    await vi.waitFor(() => expect(scene.chats.current).toBeUndefined())
    const late = await textOf(stream)
    expect(late).toBe(await textOf(scene.chats.resume(run)?.stream as never))
    expect(await messageOf(chunksIn(late))).toEqual((await scene.reload())[1])
    const sizes = scene.storage.sql
      .exec('SELECT MAX(length(bytes)) AS size FROM plimsoll_edge_chunk')
      .toArray()
    expect(sizes[0]?.size).toBeLessThanOrEqual(2 ** 18)
    // Into buffers of the reader's own, as between objects.
    const reader = scene.chats.resume(run)?.stream.getReader({ mode: 'byob' })
    const bytes: Uint8Array[] = []
    for (;;) {
      const read = await reader?.read(new Uint8Array(50_000))
      if (!read || read.done) break
      bytes.push(read.value as Uint8Array)
    }
    expect(Buffer.concat(bytes).toString()).toBe(late)
  })

  it('has a comment in it where nothing comes for 15 seconds, for who resumes', async () => {
    const host = handHost()
    const last = gate()
    const { chats } = openScene([{ text: 'It leaves', until: last.opened }], { host })
    const { run } = await chats.start(submit(user('u1', 'When?')))
    const reader = readerOf(chats.resume(run)?.stream)
    await readUntil(reader, 'It')
    const more = readUntil(reader, 'keep-alive')
    await new Promise((resolve) => setTimeout(resolve, 20))
    host.pass(15_000)
    expect(await more).toBe(': keep-alive\n\n')
    last.open()
    expect(await readUntil(reader, SSE_DONE)).toContain('leaves')
  })

  it('is removed an hour after its end, and the object is woken for it, and while a run goes on', async () => {
    const host = handHost()
    const last = gate()
    const due: number[] = []
    const beats: number[] = []
    const { chats, storage } = openScene([{ text: 'It leaves', until: last.opened }], {
      host,
      onWork: (time) => due.push(time),
      onRun: (time) => beats.push(time),
    })
    expect(chats.nextWorkAt()).toBeUndefined()
    const begun = host.now()
    const { run, stream } = await chats.start(submit(user('u1', 'When?')))
    expect([beats, due, chats.isLive]).toEqual([[begun + 30_000], [], true])
    host.pass(30_000)
    chats.runDueWork()
    expect(chats.nextWorkAt()).toBe(begun + 60_000)
    last.open()
    await textOf(stream)
    expect([beats.length, due, chats.isLive]).toEqual([1, [begun + 30_000 + HOUR], false])
    expect(chats.nextWorkAt()).toBe(begun + 30_000 + HOUR)
    host.pass(HOUR - 1)
    chats.runDueWork()
    expect(chats.resume(run)).toBeDefined()
    host.pass(1)
    chats.runDueWork()
    expect(chats.resume(run)).toBeUndefined()
    expect(storage.sql.exec('SELECT * FROM plimsoll_edge_chunk').toArray()).toEqual([])
    expect(chats.nextWorkAt()).toBeUndefined()
  })

  it('is kept for a day where its request was named, beside others for an hour', async () => {
    const host = handHost()
    const { chats, model } = openScene([{ text: 'One.' }, { text: 'Two.' }], { host })
    const named = await chats.start(request({ message: 'First' }, 'k1'))
    const text = await textOf(named.stream)
    const other = await chats.start(submit(user('u1', 'When?')))
    await textOf(other.stream)
    host.pass(HOUR)
    chats.runDueWork()
    expect(chats.resume(other.run)).toBeUndefined()
    expect(chats.nextWorkAt()).toBe(host.now() + 23 * HOUR)
    host.pass(23 * HOUR - 1)
    chats.runDueWork()
    expect(await textOf((await chats.start(request({ message: 'First' }, 'k1'))).stream)).toBe(text)
    expect(model.calls).toBe(2)
    host.pass(1)
    chats.runDueWork()
    expect(chats.resume(named.run)).toBeUndefined()
  })

  it('is removed at once where messages are forgotten, that of a run that goes on a minute after it', async () => {
    const host = handHost()
    const last = gate()
    const replies = [{ text: 'canary' }, { text: 'It leaves', until: last.opened }]
    const due: number[] = []
    const { chats, storage } = openScene(replies, { host, onWork: (time) => due.push(time) })
    const first = await chats.start(submit(user('u1', 'When?')))
    await textOf(first.stream)
    const second = await chats.start(request({ message: 'First' }, 'k1'))
    chats.clear()
    expect(chats.resume(first.run)).toBeUndefined()
    expect(storage.sql.exec('SELECT * FROM plimsoll_edge_run').toArray()).toHaveLength(1)
    last.open()
    expect(await textOf(second.stream)).toContain('leaves')
    expect(due.at(-1)).toBe(host.now() + 60_000)
    host.pass(59_999)
    chats.runDueWork()
    expect(await textOf(chats.resume(second.run)?.stream ?? new ReadableStream())).toContain('leaves')
    host.pass(1)
    chats.runDueWork()
    expect(chats.resume(second.run)).toBeUndefined()
    for (const table of ['plimsoll_edge_run', 'plimsoll_edge_chunk'])
      expect(storage.sql.exec(`SELECT * FROM ${table}`).toArray()).toEqual([])
  })
})

describe('turns that are not kept', () => {
  const completion = (text: string) =>
    parseChatRequest(
      { model: 'plimsoll', stream: true, messages: [{ role: 'user', content: text }] },
      { protocol: 'completions', modelId: 'replies' },
    )

  it('wait for one another, but for no run that is kept, and leave no row', async () => {
    const [kept, first] = [gate(), gate()]
    const scene = openScene([
      { text: 'Kept, at last.', until: kept.opened },
      { text: 'The first.', until: first.opened },
      { text: 'The second.' },
    ])
    const { chats, storage, model, session } = scene
    const run = await chats.start(submit(user('u1', 'Hello')))
    const one = await chats.start(completion('One?'))
    const two = chats.start(completion('Two?'))
    await expect.poll(() => model.calls).toBe(2)
    expect(chats.current).toBe(run.run)
    expect(chats.resume(one.run)).toBeUndefined()
    first.open()
    expect(await textOf(one.stream)).toContain('first.')
    expect(await textOf((await two).stream)).toContain('second.')
    expect(storage.sql.exec('SELECT * FROM plimsoll_edge_run').toArray()).toHaveLength(1)
    kept.open()
    await textOf(run.stream)
    expect(await session.history()).toHaveLength(6)
  })

  it('send nothing where nothing comes for long', async () => {
    const host = handHost()
    const last = gate()
    const { chats } = openScene([{ text: 'It leaves', until: last.opened }], { host })
    const { stream } = await chats.start(completion('When?'))
    const reader = readerOf(stream)
    await readUntil(reader, 'It')
    const more = readUntil(reader, 'leaves')
    await new Promise((resolve) => setTimeout(resolve, 20))
    host.pass(15_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    last.open()
    expect(await more).not.toContain('keep-alive')
  })

  it('end where the model hangs, so that the next one has its turn', async () => {
    const host = handHost()
    const never = gate()
    const { chats } = openScene([{ text: 'Never', until: never.opened }, { text: 'The second.' }], { host })
    const one = await chats.start(completion('One?'))
    const two = chats.start(completion('Two?'))
    expect(host.waits()).toEqual([300_000])
    host.pass(300_000)
    expect(await textOf(one.stream)).toContain('ERR_TIMEOUT')
    expect(await textOf((await two).stream)).toContain('second.')
  })

  it('are ended by who ends all of them, and so is a run', async () => {
    const never = gate()
    const { chats, session } = openScene([
      { text: 'Kept, never', until: never.opened },
      { text: 'Sent, never', until: never.opened },
    ])
    const run = await chats.start(submit(user('u1', 'Hello')))
    const { stream } = await chats.start(completion('When?'))
    await chats.stopAll()
    expect(await textOf(run.stream)).toContain('abort')
    expect(await textOf(stream)).toContain('ERR_CONFLICT')
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'user'])
  })

  it('keep their object awake for as long as one goes on', async () => {
    const host = handHost()
    const last = gate()
    const due: number[] = []
    const { chats } = openScene([{ text: 'It leaves', until: last.opened }], {
      host,
      onTurn: async (time) => void due.push(time),
    })
    const { stream } = await chats.start(completion('When?'))
    expect(due).toEqual([host.now() + 30_000])
    host.pass(30_000)
    expect(chats.beat()).toBe(host.now() + 30_000)
    last.open()
    await textOf(stream)
    expect(chats.beat()).toBeUndefined()
  })
})
