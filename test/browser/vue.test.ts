import { afterEach, describe, expect, it, vi } from 'vitest'
import { type App, createApp, defineComponent, h, nextTick, shallowRef } from 'vue'
import { usePreview, useSession } from '../../src/bridges/vue.ts'
import { mapStore, type Scope } from '../../src/index.ts'
import { type FullMemory, fullMemory } from '../contract/full-memory.ts'

const ada: Scope = { userId: 'ada', sessionId: 'trip' }
const memoryOf = (contextWindow = 1_000, store = mapStore()): FullMemory =>
  fullMemory({ store, budget: { contextWindow, maxOutputTokens: 0 } })

describe('the composables for Vue', () => {
  const apps: App[] = []
  const mount = (setup: () => () => string) => {
    const host = document.createElement('div')
    const app = createApp(
      defineComponent(() => {
        const text = setup()
        return () => h('p', text())
      }),
    )
    apps.push(app)
    app.mount(host)
    return { host, app }
  }
  const texts = (memory: FullMemory, scope: () => Scope) => () => {
    const { conversation } = useSession(memory, scope)
    return () =>
      conversation.value.loaded
        ? conversation.value.messages.map(({ content }) => content).join(' | ')
        : 'loading'
  }
  const shows = (host: HTMLElement, text: string | RegExp) =>
    vi.waitFor(async () => {
      await nextTick()
      expect(host.textContent).toMatch(text)
    })
  afterEach(() => {
    for (const app of apps.splice(0)) app.unmount()
  })

  it('show what a session holds, and what anybody adds to it', async () => {
    const memory = memoryOf()
    await memory.session(ada).append({ role: 'user', content: 'one' })
    const { host } = mount(texts(memory, () => ada))
    expect(host.textContent).toBe('loading')
    await shows(host, /^one$/)
    await memory.session(ada).append({ role: 'assistant', content: 'two' })
    await shows(host, /^one \| two$/)
  })

  it('keep one session while the scope names the same, and follow it when it names another', async () => {
    const memory = memoryOf()
    await memory.session(ada).append({ role: 'user', content: 'one' })
    await memory.session({ userId: 'ada', sessionId: 'work' }).append({ role: 'user', content: 'other' })
    const opened = vi.spyOn(memory, 'session')
    const scope = shallowRef(ada)
    const { host } = mount(texts(memory, () => scope.value))
    await shows(host, /^one$/)
    scope.value = { ...ada }
    await nextTick()
    expect(opened).toHaveBeenCalledTimes(1)
    scope.value = { ...ada, sessionId: 'work' }
    await shows(host, /^other$/)
    expect(opened).toHaveBeenCalledTimes(2)
  })

  it('listen no more once the component is gone', async () => {
    const memory = memoryOf()
    const session = memory.session(ada)
    vi.spyOn(memory, 'session').mockReturnValue(session)
    const end = vi.fn()
    vi.spyOn(session, 'subscribe').mockReturnValue(end)
    const { app } = mount(texts(memory, () => ada))
    expect(end).not.toHaveBeenCalled()
    app.unmount()
    apps.pop()
    expect(session.subscribe).toHaveBeenCalledTimes(1)
    expect(end).toHaveBeenCalledTimes(1)
  })

  it('build the preview again after each change, and say why there is none; nothing is written for it', async () => {
    const store = mapStore()
    const memory = memoryOf(60, store)
    const session = memory.session(ada)
    await session.append({ role: 'user', content: 'a few words' })
    const { host } = mount(() => {
      const shown = useSession(memory, ada)
      const preview = usePreview(shown.session)
      return () => `${preview.value.error ?? preview.value.context?.receipt.used}`
    })
    const { used } = (await session.context({ preview: true })).receipt
    await shows(host, new RegExp(`^${used}$`))
    await session.append({ role: 'user', content: 'far too many words '.repeat(40) })
    await shows(host, /above the cap/)
    expect((await store.open(ada).head()).seq).toBe(2)
  })
})
