/** What the bench of widgets and its pages have in common. */

export const MESSAGES = 10_000

/** Messages that a widget without pages of its own is given at a time, where it asks for pages. */
export const PAGE = 50

export const VIEWPORT = { width: 1_000, height: 800 } as const
