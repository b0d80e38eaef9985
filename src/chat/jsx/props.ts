import type { ChatStrings, Placement, PlimsollChat, PlimsollChatEventMap } from '../index.ts'

/** What JSX may give the element. Frameworks set what is a property of it as a property. */
export interface PlimsollChatProps {
  readonly src?: string | undefined
  readonly synced?: boolean | undefined
  readonly session?: string | undefined
  readonly linked?: boolean | undefined
  readonly lang?: string | undefined
  readonly placement?: Placement | undefined
  readonly heading?: string | undefined
  readonly placeholder?: string | undefined
  readonly open?: boolean | undefined
  readonly developer?: boolean | undefined
  readonly getToken?: PlimsollChat['getToken']
  readonly model?: PlimsollChat['model']
  readonly tools?: PlimsollChat['tools']
  readonly pageContext?: PlimsollChat['pageContext']
  readonly strings?: ChatStrings | undefined
  readonly id?: string | undefined
  readonly class?: string | undefined
  readonly className?: string | undefined
  readonly slot?: string | undefined
  readonly children?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: each framework has references and keys of its own.
  readonly ref?: any
  readonly key?: string | number | null | undefined
}

/** Handlers as React 19 and Preact name those of custom events: `onplimsoll-open`. */
export type Handlers = {
  readonly [Name in keyof PlimsollChatEventMap as `on${Name}`]?: (event: PlimsollChatEventMap[Name]) => void
}

/** As Solid names them: `on:plimsoll-open`. */
export type SolidHandlers = {
  readonly [Name in keyof PlimsollChatEventMap as `on:${Name}`]?: (event: PlimsollChatEventMap[Name]) => void
}
