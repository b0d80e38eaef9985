import { describe, expect, it } from 'vitest'
import type { SessionClient } from '../../../src/client/index.ts'
import { defaultCounter } from '../../../src/counters/default.ts'
import { mapStore, PlimsollError } from '../../../src/index.ts'
import { Desk, type DeskSettings } from '../../../src/inspector/model/desk.ts'
import type { OpenedFile } from '../../../src/inspector/model/opened-file.ts'
import { sampleLog } from '../../../src/inspector/model/sample.ts'
import { pageTurns, slices } from '../../../src/inspector/model/slices.ts'
import { clientSource, type InspectorSource, sessionSource } from '../../../src/inspector/model/source.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { assistant, trip, user } from '../support/recordings.ts'

const settings: DeskSettings = { budget: 1_200, counter: defaultCounter }

function fileOf(text: string, name = 'log.jsonl'): OpenedFile {
  return new File([text], name)
}

function deskOf(onChange: (desk: Desk) => void = () => {}): Desk {
  const desk: Desk = new Desk({ turns: pageTurns, onChange: () => onChange(desk) })
  return desk
}

const until = async (met: () => boolean) => {
  while (!met()) await pageTurns.next()
}

describe('a desk', () => {
  it('shows the first call of a file, and any other one that is asked for', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), settings)
    expect(desk.work).toBe(undefined)
    expect(desk.inspection?.calls).toHaveLength(42)
    expect(desk.call).toBe(0)
    const first = desk.detail?.shown.used ?? 0
    await desk.select(20)
    expect(desk.detail?.shown.used).toBeGreaterThan(first)
    expect(desk.comparison?.cause).toBe('none')
    await desk.compareWith(2)
    expect(desk.comparison?.cause).toBe('window')
    await desk.select(99)
    expect(desk.call).toBe(41)
  })

  it('shows the first call at which the line cuts, where that is asked for', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), settings, 'cut')
    expect(desk.call).toBeGreaterThan(0)
    expect(desk.comparison?.cause).toBe('window')
    const before = desk.inspection?.calls.slice(0, desk.call) ?? []
    expect(
      before.some(({ outcomes: { plimsoll = {} } }) => 'cause' in plimsoll && plimsoll.cause === 'window'),
    ).toBe(false)
    await desk.open(fileOf(jsonl(user('Hi'), assistant('Hello'))), settings, 'cut')
    expect(desk.call).toBe(0)
  })

  it('shows of two calls that are asked for at once the later one', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), settings)
    const first = desk.detail
    // The first call has nothing before it to be compared with, so it is ready before the other
    // one.
    await Promise.all([desk.select(30), desk.select(0)])
    expect(desk.call).toBe(0)
    expect(desk.detail).toEqual(first)
    expect(desk.isBuilding).toBe(false)
  })

  it('never has what one call was given under the number of another one', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), settings)
    const selected = desk.select(25)
    expect([desk.call, desk.detail, desk.comparison]).toEqual([25, undefined, undefined])
    await selected
    expect(desk.detail).toBeDefined()
  })

  it('lets a newer file take the place of one that is still raced', async () => {
    const desk = deskOf()
    const [line = ''] = trip['trip.jsonl'].split('\n')
    const older = desk.open(fileOf(`${line}\n`.repeat(20), 'older.jsonl'), settings)
    await until(() => desk.race !== undefined)
    await desk.open(fileOf(jsonl(user('Hi'), assistant('Hello')), 'newer.jsonl'), settings)
    await older
    expect(desk.log?.name).toBe('newer.jsonl')
    expect(desk.inspection?.calls).toHaveLength(1)
    expect(desk.failure).toBe(undefined)
  })

  it('lets a newer file take the place of one that is still read', async () => {
    const desk = deskOf()
    const older = desk.open(fileOf(sampleLog().repeat(600), 'older.jsonl'), settings)
    await until(() => desk.work?.type === 'reading' && desk.work.share > 0)
    await desk.open(fileOf(jsonl(user('Hi'), assistant('Hello')), 'newer.jsonl'), settings)
    await older
    expect(desk.log?.name).toBe('newer.jsonl')
    expect(desk.inspection?.calls).toHaveLength(1)
  })

  it('races again with another line, where it was', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), settings)
    await desk.select(30)
    const before = desk.race?.lanes()[0]?.figures.costPerCall
    await desk.replay({ ...settings, budget: 4_000 })
    expect(desk.call).toBe(30)
    expect(desk.inspection?.cap).toBe(4_000)
    expect(desk.race?.lanes()[0]?.figures.costPerCall).not.toBe(before)
  })

  it('shows another conversation of the file', async () => {
    const desk = deskOf()
    const short = { id: 'short', messages: [user('Hi'), assistant('Hello')] }
    await desk.open(fileOf(sampleLog() + jsonl(short)), settings)
    await desk.choose(1, settings)
    expect(desk.inspection?.calls).toHaveLength(1)
    expect(desk.detail?.shown.text).toContain('Hi')
  })

  it('says of a call that is refused that there is nothing to show', async () => {
    const desk = deskOf()
    await desk.open(fileOf(sampleLog()), { ...settings, budget: 120 })
    const refused =
      desk.inspection?.calls.findIndex(({ outcomes: { plimsoll } }) => plimsoll && 'reason' in plimsoll) ?? -1
    expect(refused).toBeGreaterThanOrEqual(0)
    await desk.select(refused)
    expect([desk.detail, desk.isBuilding, desk.failure]).toEqual([undefined, false, undefined])
  })

  it('shows a file of requests with the tokens of its lines, and the prefix that each repeats', async () => {
    const argv = ['replay', 'trip.jsonl', '--budget', '3000', '--counter', 'default']
    const { written } = await plimsoll([...argv, '--requests', 'out'], trip)
    const desk = deskOf()
    await desk.open(fileOf((written.out ?? []).join('\n'), 'requests.jsonl'), settings)
    expect(desk.race).toBe(undefined)
    const log = deskOf()
    await log.open(fileOf(trip['trip.jsonl']), { ...settings, budget: 3_000 })
    const figures = (of: Desk) =>
      of.inspection?.calls.map(({ outcomes: { plimsoll } }) => {
        if (!plimsoll || 'reason' in plimsoll) return undefined
        const { tokens, hit, cause } = plimsoll
        return { tokens, hit: Math.round(hit * 1_000), cause }
      })
    expect(figures(desk)).toEqual(figures(log))
    await desk.select(20)
    await log.select(20)
    expect(desk.detail?.epoch).toEqual(log.detail?.epoch)
    expect(desk.detail?.shown.used).toBe(log.detail?.shown.used)
  })

  it('names requests that stand among conversations as left out', async () => {
    const desk = deskOf()
    await desk.open(fileOf(jsonl({ request: { messages: [user('Hi')] } }) + sampleLog()), settings)
    expect(desk.log?.unreadable).toEqual({
      count: 1,
      first: [{ line: 1, reason: 'a request, among conversations' }],
    })
    expect(desk.inspection?.calls).toHaveLength(42)
  })

  it.each([0, 2])('tells what a stream fails with, after %i pieces', async (pieces) => {
    const desk = deskOf()
    let left = pieces
    const stream = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (left-- <= 0) throw new Error('the disk is gone')
          controller.enqueue(new TextEncoder().encode(sampleLog()))
        },
      })
    await desk.open({ name: 'log.jsonl', size: 10, stream }, settings)
    expect(desk.failure).toBe('the disk is gone')
    expect(desk.work).toBe(undefined)
  })
})

it('reads the sources that a page has', () => {
  const [ofSession, ofClient]: [
    (session: FullSession) => InspectorSource,
    (client: SessionClient) => InspectorSource,
  ] = [sessionSource, clientSource]
  expect([ofSession, ofClient]).toHaveLength(2)
})

describe('a session on the desk', () => {
  async function session() {
    const memory = fullMemory({ store: mapStore(), budget: 600, counter: defaultCounter })
    const session = memory.session({ userId: 'ada', sessionId: 'tea' })
    const sent: string[] = []
    const say = async (number: number) => {
      await session.append({ role: 'user', content: `Question ${number}: ${'what of the tea? '.repeat(8)}` })
      sent.push((await session.context()).hash)
      await session.append({ role: 'assistant', content: `Answer ${number}: ${'it is green. '.repeat(8)}` })
    }
    for (let number = 1; number <= 12; number++) await say(number)
    return { session, say, sent }
  }

  it('has the very contexts that were sent, checked, and the one that comes next', async () => {
    const { session: own, sent } = await session()
    const source = sessionSource(own)
    const calls = await source.calls()
    expect(calls).toHaveLength(13)
    const found = await Promise.all(calls.slice(0, -1).map(({ id }) => source.context(id)))
    expect(found.map(({ context, verified }) => [context.hash, verified])).toEqual(
      sent.map((hash) => [hash, true]),
    )
    expect(calls.at(-1)?.next).toBe(true)
  })

  it('stands beside what other policies would have cost, call by call', async () => {
    const { session: own } = await session()
    const desk = deskOf()
    await desk.watch(sessionSource(own), settings)
    const calls = desk.inspection?.calls ?? []
    expect(calls.map(({ outcomes }) => Object.keys(outcomes).length)).toEqual([...Array(12).fill(4), 1])
    expect(calls[4]?.answers).toContain('Question 5')
    expect(desk.call).toBe(12)
    expect(desk.detail?.verified).toBe(undefined)
    await desk.select(4)
    expect(desk.detail?.verified).toBe(true)
  })

  it('gives the other policies the same instructions and tools', async () => {
    const system = `You sell tickets. ${'Be brief. '.repeat(20)}`
    const memory = fullMemory({ store: mapStore(), budget: 4_000, counter: defaultCounter, system })
    const own = memory.session({ userId: 'ada', sessionId: 'trip' })
    const tools = [
      { name: 'seats', description: 'Finds seats. '.repeat(20), inputSchema: { type: 'object' } },
    ]
    await own.append({ role: 'user', content: 'Two seats to Turin.' })
    await own.context({ tools })
    await own.append({ role: 'assistant', content: 'Which day?' })
    const desk = deskOf()
    await desk.watch(sessionSource(own), settings)
    // So short a conversation is the same in any home.
    const { plimsoll, full } = desk.inspection?.calls[0]?.outcomes ?? {}
    expect(plimsoll).toHaveProperty('tokens')
    expect(full).toHaveProperty('tokens', (plimsoll as { tokens: number }).tokens)
  })

  it('writes nothing, also where the next call would begin an epoch', async () => {
    const store = mapStore()
    const scope = { userId: 'ada', sessionId: 'tea' }
    const own = fullMemory({ store, budget: 600 }).session(scope)
    await own.append({ role: 'user', content: 'Hi' })
    const { seq } = await store.open(scope).head()
    const desk = deskOf()
    await desk.watch(sessionSource(own), settings)
    expect(desk.detail?.shown.receipt?.epoch).toBe('preview')
    expect((await store.open(scope).head()).seq).toBe(seq)
  })

  it('follows what is written until it is put away', async () => {
    const { session: own, say } = await session()
    const desk = deskOf()
    const source = sessionSource(own)
    let listening = 0
    const subscribe = (listener: () => void) => {
      const end = source.subscribe?.(listener)
      listening++
      return () => {
        listening--
        end?.()
      }
    }
    await desk.watch({ ...source, subscribe }, settings)
    expect(listening).toBe(1)
    await say(13)
    await until(() => (desk.inspection?.calls.length ?? 0) > 13)
    desk.clear()
    await say(14)
    await pageTurns.next()
    expect(desk.inspection).toBe(undefined)
    expect(listening).toBe(0)
  })

  it('reads its calls again where what is remembered of its user was changed elsewhere', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 4_000 })
    const own = memory.session({ userId: 'ada', sessionId: 'tea' })
    await own.append({ role: 'user', content: 'Hi' })
    await own.context()
    await own.append({ role: 'assistant', content: 'Hello.' })
    await own.facts.remember({ id: 'f1', kind: 'preference', text: 'Likes brown cheese' })
    const desk = deskOf()
    await desk.watch(sessionSource(own), settings)
    expect(desk.detail?.shown.text).toContain('brown cheese')
    const { facts } = memory.session({ userId: 'ada', sessionId: 'other' })
    await facts.supersede('f1', { kind: 'preference', text: 'Likes no cheese' })
    await until(() => desk.detail?.shown.text.includes('no cheese') ?? false)
    desk.clear()
  })

  it('stays at a call that was chosen while what was written is read', async () => {
    const { session: own, say } = await session()
    const desk = deskOf()
    const source = sessionSource(own)
    let isHeld = false
    let release = (): void => {}
    const calls = async () => {
      if (isHeld) await new Promise<void>((resolve) => (release = resolve))
      return source.calls()
    }
    await desk.watch({ ...source, calls }, settings)
    const shown = desk.inspection
    expect(desk.call).toBe((shown?.calls.length ?? 0) - 1)
    isHeld = true
    await say(13)
    await desk.select(0)
    isHeld = false
    release()
    await until(() => desk.inspection !== shown)
    expect(desk.call).toBe(0)
  })

  it('says of a call that cannot be known why', async () => {
    const source: InspectorSource = {
      name: 'gone',
      calls: async () => [{ id: 'a', next: false }],
      context: () => Promise.reject(new PlimsollError('ERR_NOT_FOUND', 'no context')),
    }
    const desk = deskOf()
    await desk.watch(source, settings)
    expect(desk.inspection?.calls[0]?.outcomes.plimsoll).toEqual({ reason: 'ERR_NOT_FOUND' })
    expect(desk.failure).toBe(undefined)
  })

  it('ends with a session that is deleted, and says so without its id', async () => {
    const { session: own } = await session()
    const desk = deskOf()
    const source = sessionSource(own)
    const listeners = new Set<() => void>()
    let isThere = true
    const watched: InspectorSource = {
      ...source,
      calls: () =>
        isThere ? source.calls() : Promise.reject(new PlimsollError('ERR_NOT_FOUND', 'session: no 01a21f56')),
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    await desk.watch(watched, settings)
    expect(desk.failureKind).toBe(undefined)
    expect(listeners.size).toBe(1)
    isThere = false
    for (const listener of listeners) listener()
    await until(() => desk.failure !== undefined)
    await pageTurns.next()
    expect(desk.failureKind).toBe('gone')
    expect(desk.inspection).toBe(undefined)
    expect(desk.detail).toBe(undefined)
    expect(listeners.size).toBe(0)
  })

  it('hears from an edge that a session is no more', async () => {
    const { session: own } = await session()
    let isThere = true
    let tell = (_: { readonly type: string }): void => {}
    const client = {
      sessionId: own.sessionId,
      messages: async (options: { readonly messages: number }) => {
        if (isThere) return own.history(options)
        throw new PlimsollError('ERR_NOT_FOUND', 'session: no 01a21f56')
      },
      context: () => own.context({ preview: true, onPending: 'abandon' }),
      contextAt: async () => Promise.reject(new PlimsollError('ERR_NOT_FOUND', 'no context')),
      live: (listener: typeof tell) => {
        tell = listener
        return () => {}
      },
    }
    const desk = deskOf()
    await desk.watch(clientSource(client), settings)
    isThere = false
    tell({ type: 'close' })
    await pageTurns.next()
    expect(desk.failureKind).toBe(undefined)
    tell({ type: 'refused' })
    await until(() => desk.failureKind === 'gone')
    expect(desk.inspection).toBe(undefined)
  })

  it('waits for a session that is not there yet', async () => {
    const { session: own } = await session()
    const desk = deskOf()
    const source = sessionSource(own)
    let said = (): void => {}
    let isThere = false
    const watched: InspectorSource = {
      ...source,
      calls: () => (isThere ? source.calls() : Promise.reject(new PlimsollError('ERR_NOT_FOUND', 'none'))),
      subscribe: (listener) => {
        said = listener
        return () => {}
      },
    }
    await desk.watch(watched, settings)
    expect(desk.failureKind).toBe('gone')
    isThere = true
    said()
    await until(() => desk.detail !== undefined)
    expect(desk.failure).toBe(undefined)
  })

  it('tells what a source fails with', async () => {
    const desk = deskOf()
    const source = {
      name: 'x',
      calls: () => Promise.reject(new Error('no network')),
      context: () => Promise.reject(),
    }
    await desk.watch(source, settings)
    expect(desk.failure).toBe('no network')
  })
})

describe('slices of work', () => {
  const clock = () => {
    let now = 0
    let waits = 0
    return {
      turns: { now: () => now, next: async () => void waits++ },
      pass: (ms: number) => {
        now += ms
      },
      waits: () => waits,
    }
  }

  it('wait where a slice is used up, and not before', async () => {
    const { turns, pass, waits } = clock()
    const pause = slices(turns, new AbortController().signal)
    for (let step = 0; step < 100; step++) {
      pass(1)
      await pause()
    }
    expect(waits()).toBe(10)
  })

  it('end with the reason of their signal, also where it came during a wait', async () => {
    const { turns, pass } = clock()
    const work = new AbortController()
    const pause = slices({ ...turns, next: async () => work.abort(new Error('newer')) }, work.signal)
    await pause()
    pass(50)
    await expect(pause()).rejects.toThrow('newer')
    await expect(pause()).rejects.toThrow('newer')
  })
})
