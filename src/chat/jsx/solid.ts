/** `<plimsoll-chat>` in the JSX of Solid: `import type {} from 'plimsoll/chat/solid'`. */
import type { PlimsollChatProps, SolidHandlers } from './props.ts'

// biome-ignore lint/suspicious/noTsIgnore: the library is not installed here; where this is imported, it is.
// @ts-ignore
declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'plimsoll-chat': PlimsollChatProps & SolidHandlers
    }
  }
}
