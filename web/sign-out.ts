import type { PlimsollChat, SignedOut, SignOutOptions } from '../src/chat/index.ts'
import type { Words } from './words.ts'

export interface SignOutParts {
  readonly dialog: HTMLDialogElement
  readonly chat: Pick<PlimsollChat, 'signOut' | 'src'>
  readonly words: Words
  /** How its numbers and dates are written. */
  readonly locale: string
  /** Told when the person waits for long, and when that is over. */
  readonly onWait: (isLong: boolean) => void
}

/** Milliseconds after which a person looks for a sign that it goes on. */
const LONG_MS = 400

/**
 * Asks whether the person leaves this browser, and says first what goes with that. @returns whether
 * they left, and nothing of theirs is here any more
 */
export async function signOut({ dialog, chat, words, locale, onWait }: SignOutParts): Promise<boolean> {
  const number = new Intl.NumberFormat(locale)
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
  /** What becomes of what is at the service. */
  const there = ({ guestEnd }: SignedOut): string => {
    if (chat.src === undefined) return ''
    return guestEnd === undefined ? words.staysThere : words.goesThere(date.format(guestEnd))
  }
  const lines = ({ lost }: SignedOut): readonly string[] => {
    const sum = (of: 'waiting' | 'refused'): number => lost.reduce((all, each) => all + each[of], 0)
    const counts = [
      [words.unsent, sum('waiting')],
      [words.refused, sum('refused')],
      [words.drafts, lost.filter(({ draft }) => draft).length],
    ] as const
    return counts.flatMap(([line, count]) => (count > 0 ? line(number.format(count)) : []))
  }
  /** Signs out, which at a slow service takes seconds. */
  const leave = async (how: SignOutOptions): Promise<SignedOut> => {
    let isLong = false
    const late = setTimeout(() => {
      isLong = true
      onWait(true)
    }, LONG_MS)
    try {
      return await chat.signOut({ erase: true, ...how })
    } finally {
      clearTimeout(late)
      if (isLong) onWait(false)
    }
  }
  const look = (): Promise<SignedOut> => leave({ dryRun: true })
  for (let told = await look(); !told.done; ) {
    if (!(await agreed(dialog, there(told), lines(told)))) return false
    const now = await look()
    // What would be lost since then, as by another tab, is asked about, too.
    told = isShown(now, told) ? await leave({ force: now.lost.length > 0 }) : now
  }
  return true
}

/** Whether no more would be lost, of any conversation, than the person was told. */
function isShown({ lost }: SignedOut, told: SignedOut): boolean {
  return lost.every(({ sessionId, waiting, refused, draft }) => {
    const then = told.lost.find((one) => one.sessionId === sessionId && (!draft || one.draft))
    return then !== undefined && waiting <= then.waiting && refused <= then.refused
  })
}

/** @returns whether the person said so */
function agreed(dialog: HTMLDialogElement, there: string, lost: readonly string[]): Promise<boolean> {
  const [what, list] = ['.there', '.lost'].map((name) => dialog.querySelector<HTMLElement>(name))
  if (what) {
    what.textContent = there
    what.hidden = there === ''
  }
  if (list) {
    list.hidden = lost.length === 0
    list.querySelector('ul')?.replaceChildren(
      ...lost.map((line) => {
        const item = document.createElement('li')
        item.textContent = line
        return item
      }),
    )
  }
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((done) => {
    dialog.addEventListener('close', () => done(dialog.returnValue !== ''), { once: true })
  })
}
