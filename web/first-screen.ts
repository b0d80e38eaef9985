import { mark } from '../src/chat/launcher/parts.ts'
import type { Words } from './words.ts'

export interface FirstScreenActions {
  /** Contract: says a text in the conversation. */
  readonly say: (text: string) => void
  /** Contract: shows the inspector, which has something to show before anything was said. */
  readonly inspect: () => void
}

/** What an empty conversation shows on this page: what this is, and what to try. */
export function firstScreen(words: Words, locale: string, { say, inspect }: FirstScreenActions): HTMLElement {
  const screen = document.createElement('div')
  screen.slot = 'empty'
  screen.className = 'first'
  const title = document.createElement('h2')
  title.textContent = 'Plimsoll'
  const text = document.createElement('p')
  text.textContent = words.firstText
  const starters = document.createElement('ul')
  starters.append(
    starter(words.starterPlan, () => say(words.starterPlan)),
    starter(words.starterRemember, () => say(words.starterRemember)),
    starter(words.starterFind, () => say(words.starterFind)),
    starter(words.starterLine, inspect),
  )
  screen.append(mark(), title, text, starters)
  // An address that names a conversation shows that, and none of this.
  const seen = new IntersectionObserver(([entry]) => {
    if (!entry?.isIntersecting) return
    seen.disconnect()
    void showExhibits(screen, locale)
  })
  seen.observe(screen)
  return screen
}

async function showExhibits(screen: HTMLElement, locale: string): Promise<void> {
  const { lang } = document.documentElement
  const { raceView } = await import('./race/race.ts')
  screen.append(raceView(lang, locale))
  const { worldsView } = await import('./worlds/view.ts')
  screen.append(await worldsView(lang, locale))
  // It needs a service to follow.
  if (import.meta.env.MODE === 'static') return
  const { unplugView } = await import('./unplug/view.ts')
  screen.append(unplugView(lang, locale))
}

function starter(label: string, click: () => void): HTMLElement {
  const item = document.createElement('li')
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = label
  button.addEventListener('click', click)
  item.append(button)
  return item
}
