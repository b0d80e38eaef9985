/** `<plimsoll-chat>` in the JSX of Preact: `import type {} from 'plimsoll/chat/preact'`. */
import type { Handlers, PlimsollChatProps } from './props.ts'

// biome-ignore lint/suspicious/noTsIgnore: the library is not installed here; where this is imported, it is.
// @ts-ignore
declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'plimsoll-chat': PlimsollChatProps & Handlers
    }
  }
}
