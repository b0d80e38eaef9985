/** Parts of the widget that are loaded late, where there is no network by then. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clear, frame, show, until } from './support/element.ts'
import { said } from './support/fake-chat.ts'

const network = vi.hoisted(() => {
  const state = { isOnline: true }
  /** What a module gives, where there is a network. */
  const load = <Given extends unknown[], Loaded>(get: (...given: Given) => Promise<Loaded>) => {
    return async (...given: Given): Promise<Loaded> => {
      if (!state.isOnline) throw new TypeError('Failed to fetch dynamically imported module')
      return get(...given)
    }
  }
  return { state, load }
})

vi.mock('../../src/chat/strings/load.ts', async (original) => {
  const real = await original<typeof import('../../src/chat/strings/load.ts')>()
  return { ...real, loadStrings: network.load(real.loadStrings) }
})
vi.mock('../../src/chat/strings/panels/load.ts', async (original) => {
  const real = await original<typeof import('../../src/chat/strings/panels/load.ts')>()
  return { loadPanelWords: network.load(real.loadPanelWords) }
})
vi.mock('../../src/chat/element/session-list.ts', () => {
  throw new TypeError('Failed to fetch dynamically imported module')
})

beforeEach(() => {
  network.state.isOnline = true
})
afterEach(clear)

describe('a part that cannot be loaded', () => {
  for (const name of ['Memory', 'Conversations', 'What the model will see', 'Forget this message'])
    it(`is said to be one, at “${name}”`, async () => {
      const { button, fake, text } = await show()
      fake.add(said('user', 'Which trains?'))
      await frame()
      network.state.isOnline = false
      button(name).click()
      await until(() => text().includes('A part of the chat could not be loaded.'))
      expect(text()).not.toContain('Something went wrong')
    })
})

describe('another language', () => {
  it('shows once there is a network, where there was none when it was chosen', async () => {
    const { element, text } = await show()
    network.state.isOnline = false
    element.lang = 'de'
    await frame()
    expect(text()).toContain('What can I do for you?')
    network.state.isOnline = true
    dispatchEvent(new Event('online'))
    await until(() => text().includes('Was kann ich'))
  })
})
