import { act, createElement, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { usePreview, useSession } from '../../src/bridges/react.ts'
import { mapStore, type Scope } from '../../src/index.ts'
import { type FullMemory, fullMemory } from '../contract/full-memory.ts'

const ada: Scope = { userId: 'ada', sessionId: 'trip' }
const memoryOf = (contextWindow = 1_000, store = mapStore()): FullMemory =>
  fullMemory({ store, budget: { contextWindow, maxOutputTokens: 0 } })

function Texts({ memory, scope }: { memory: FullMemory; scope: Scope }) {
  const { messages, loaded } = useSession(memory, scope)
  return createElement('p', null, loaded ? messages.map(({ content }) => content).join(' | ') : 'loading')
}

function Used({ memory }: { memory: FullMemory }) {
  const { session } = useSession(memory, ada)
  const { context, error } = usePreview(session)
  return createElement('p', null, error ? String((error as Error).message) : `${context?.receipt.used}`)
}

describe('the hooks for React', () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  const roots: ReturnType<typeof createRoot>[] = []
  const render = async (element: ReturnType<typeof createElement>) => {
    const host = document.createElement('div')
    const root = createRoot(host)
    roots.push(root)
    await act(async () => root.render(element))
    return { host, root, show: (next: typeof element) => act(async () => root.render(next)) }
  }
  const shows = (host: HTMLElement, text: string) =>
    vi.waitFor(async () => {
      await act(async () => {})
      expect(host.textContent).toBe(text)
    })
  afterEach(async () => {
    for (const root of roots.splice(0)) await act(async () => root.unmount())
  })

  it('show what a session holds, and what anybody adds to it', async () => {
    const memory = memoryOf()
    await memory.session(ada).append({ role: 'user', content: 'one' })
    const { host } = await render(createElement(Texts, { memory, scope: ada }))
    await shows(host, 'one')
    await memory.session(ada).append({ role: 'assistant', content: 'two' })
    await shows(host, 'one | two')
  })

  it('keep one session while the scope names the same, and follow it when it names another', async () => {
    const memory = memoryOf()
    await memory.session(ada).append({ role: 'user', content: 'one' })
    await memory.session({ userId: 'ada', sessionId: 'work' }).append({ role: 'user', content: 'other' })
    const opened = vi.spyOn(memory, 'session')
    const { host, show } = await render(createElement(Texts, { memory, scope: ada }))
    await shows(host, 'one')
    await show(createElement(Texts, { memory, scope: { ...ada } }))
    expect(opened).toHaveBeenCalledTimes(1)
    await show(createElement(Texts, { memory, scope: { ...ada, sessionId: 'work' } }))
    await shows(host, 'other')
    expect(opened).toHaveBeenCalledTimes(2)
  })

  it('listen no more once the component is gone, in strict mode too', async () => {
    const memory = memoryOf()
    const session = memory.session(ada)
    vi.spyOn(memory, 'session').mockReturnValue(session)
    let listeners = 0
    const subscribe = session.subscribe.bind(session)
    vi.spyOn(session, 'subscribe').mockImplementation((listener) => {
      const end = subscribe(listener)
      listeners++
      return () => {
        listeners--
        end()
      }
    })
    const { host, root } = await render(
      createElement(StrictMode, null, createElement(Texts, { memory, scope: ada })),
    )
    await shows(host, '')
    expect(listeners).toBe(1)
    await act(async () => root.unmount())
    expect(listeners).toBe(0)
  })

  it('build the preview again after each change, and say why there is none; nothing is written for it', async () => {
    const store = mapStore()
    const memory = memoryOf(60, store)
    const session = memory.session(ada)
    await session.append({ role: 'user', content: 'a few words' })
    const { host } = await render(createElement(Used, { memory }))
    const { used } = (await session.context({ preview: true })).receipt
    await shows(host, `${used}`)
    await session.append({ role: 'user', content: 'far too many words '.repeat(40) })
    await vi.waitFor(async () => {
      await act(async () => {})
      expect(host.textContent).toMatch(/above the cap/)
    })
    expect((await store.open(ada).head()).seq).toBe(2)
  })

  it('say on a server that nothing was read yet', () => {
    expect(renderToString(createElement(Texts, { memory: memoryOf(), scope: ada }))).toBe('<p>loading</p>')
  })
})
