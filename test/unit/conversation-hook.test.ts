import { describe, expect, it } from 'vitest'
import { conversationOf } from '../../src/bridges/conversation.ts'
import { createMemory, forget, mapStore, rewind } from '../../src/index.ts'

const scene = async (count: number, budget = 100_000) => {
  const session = createMemory({ store: mapStore(), budget }).session({ userId: 'ada', sessionId: 'trip' })
  const add = async (from: number, to: number): Promise<void> => {
    for (let place = from; place < to; place++)
      await session.append({
        id: `m${place}`,
        role: place % 2 ? 'assistant' : 'user',
        content: `Number ${place}`,
      })
  }
  await add(0, count)
  const source = conversationOf(session)
  let told = 0
  const end = source.subscribe(() => told++)
  const settled = async (): Promise<readonly string[]> => {
    const before = told
    await expect.poll(() => told).toBeGreaterThanOrEqual(before)
    for (let seen = -1; seen !== told; ) {
      seen = told
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return source.getSnapshot().messages.map(({ id }) => id)
  }
  const ids = (from: number, to: number): readonly string[] =>
    Array.from({ length: to - from }, (_, index) => `m${from + index}`)
  return { session, source, add, settled, ids, end }
}

describe('the conversation that a chat shows', () => {
  it('keeps what shows while it grows, though the window of the model is cut', async () => {
    const { session, source, add, settled, ids } = await scene(60, 300)
    expect(await settled()).toEqual(ids(10, 60))
    expect(source.getSnapshot().hasOlder).toBe(true)
    for (let place = 60; place < 70; place += 2) {
      await add(place, place + 2)
      await session.context()
    }
    expect(session.getSnapshot().messages.length).toBeLessThan(40)
    expect(await settled()).toEqual(ids(10, 70))
  })

  it('shows older ones when asked, to the first, and none twice', async () => {
    const { source, settled, ids } = await scene(120)
    await settled()
    await source.showOlder()
    expect(source.getSnapshot()).toMatchObject({ hasOlder: true })
    expect(await settled()).toEqual(ids(20, 120))
    await source.showOlder()
    expect(await settled()).toEqual(ids(0, 120))
    expect(source.getSnapshot().hasOlder).toBe(false)
    await source.showOlder()
    expect(await settled()).toEqual(ids(0, 120))
  })

  it('loses what is hidden or forgotten', async () => {
    const { session, source, settled, ids } = await scene(80)
    await settled()
    await source.showOlder()
    await forget(session, 'm10')
    expect((await settled()).includes('m10')).toBe(false)
    await rewind(session, 'm40')
    expect(await settled()).toEqual(ids(0, 40).filter((id) => id !== 'm10'))
  })

  it('says why it could not be read, and keeps what it had', async () => {
    const { session, source, add, settled, ids } = await scene(4)
    await settled()
    const { history } = session
    session.history = async () => {
      throw new Error('gone')
    }
    await add(4, 6)
    await expect.poll(() => source.getSnapshot().error).toEqual(new Error('gone'))
    expect(source.getSnapshot().messages.map(({ id }) => id)).toEqual(ids(0, 4))
    session.history = history
    await add(6, 8)
    await expect.poll(() => source.getSnapshot().error).toBe(undefined)
    expect(await settled()).toEqual(ids(0, 8))
  })

  it('reads nothing before somebody listens, nor after', async () => {
    const session = createMemory({ store: mapStore(), budget: 1_000 }).session({
      userId: 'ada',
      sessionId: 'trip',
    })
    let read = 0
    const { history } = session
    session.history = (...given) => {
      read++
      return history.apply(session, given)
    }
    const source = conversationOf(session)
    await session.append({ role: 'user', content: 'one' })
    expect([read, source.getSnapshot().loaded]).toEqual([0, false])
    const end = source.subscribe(() => {})
    await expect.poll(() => source.getSnapshot().messages.length).toBe(1)
    end()
    const before = read
    await session.append({ role: 'user', content: 'two' })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(read).toBe(before)
  })
})
