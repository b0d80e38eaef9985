import { afterEach, expect, it, vi } from 'vitest'
import type { SignedOut, SignOutOptions } from '../../../src/chat/index.ts'
import { signOut } from '../../../web/sign-out.ts'
import { wordsFor } from '../../../web/words.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

/** Asks a person who says yes each time; `meanwhile` runs while they read. */
function asked(
  lost: () => SignedOut['lost'],
  meanwhile: () => void,
  service: () => Promise<void> = async () => {},
) {
  vi.stubGlobal('document', { createElement: () => ({ textContent: '' }) })
  const shown: (readonly string[])[] = []
  const forced: SignOutOptions[] = []
  const list = {
    hidden: false,
    querySelector: () => ({
      replaceChildren: (...items: readonly { readonly textContent: string }[]) =>
        shown.push(items.map(({ textContent }) => textContent)),
    }),
  }
  let close = (): void => {}
  const dialog = {
    returnValue: '',
    querySelector: () => list,
    showModal() {
      meanwhile()
      queueMicrotask(() => {
        dialog.returnValue = 'go'
        close()
      })
    },
    addEventListener: (_: string, listener: () => void) => (close = listener),
  } as unknown as HTMLDialogElement
  const chat = {
    src: undefined,
    async signOut(options: SignOutOptions = {}): Promise<SignedOut> {
      await service()
      if (options.dryRun) return { done: false, lost: lost() }
      forced.push(options)
      return { done: true, lost: [] }
    },
  }
  const waits: boolean[] = []
  const onWait = (isLong: boolean): void => void waits.push(isLong)
  const done = signOut({ dialog, chat, words: wordsFor(['en']).words, locale: 'en', onWait })
  return { done, shown, forced, waits }
}

it('asks again about what was written while it asked', async () => {
  const one = { sessionId: 'one', waiting: 1, refused: 0 }
  let lost: SignedOut['lost'] = [one]
  const { done, shown, forced } = asked(
    () => lost,
    () => {
      lost = [one, { sessionId: 'two', waiting: 2, refused: 0 }, { waiting: 0, refused: 0, draft: true }]
    },
  )
  expect(await done).toBe(true)
  expect(shown.map((lines) => lines.join('; '))).toEqual([
    'Messages and changes that were not sent: 1',
    'Messages and changes that were not sent: 3; Drafts, text or files: 1',
  ])
  expect(forced).toEqual([{ erase: true, force: true }])
})

it('asks once where what was told is all, or was sent meanwhile', async () => {
  let lost: SignedOut['lost'] = [{ sessionId: 'one', waiting: 2, refused: 0, draft: true }]
  const { done, shown, forced } = asked(
    () => lost,
    () => {
      lost = []
    },
  )
  expect(await done).toBe(true)
  expect([shown.length, forced]).toEqual([1, [{ erase: true, force: false }]])
})

it('says that it goes on where the service is slow: before it asks, and after', async () => {
  const answers: (() => void)[] = []
  const { done, shown, waits } = asked(
    () => [],
    () => {},
    () => new Promise((answer) => answers.push(answer)),
  )
  await expect.poll(() => waits).toEqual([true])
  expect(shown).toEqual([])
  answers.shift()?.()
  await expect.poll(() => waits).toEqual([true, false, true])
  const answering = setInterval(() => answers.shift()?.(), 1)
  expect(await done).toBe(true)
  clearInterval(answering)
  expect(waits).toEqual([true, false, true, false])
})
