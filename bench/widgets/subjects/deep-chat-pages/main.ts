/** Pages, asked for by `loadHistory` as the reader comes to the top. */
import { MESSAGES, PAGE } from '../../plan.ts'
import { contents, show } from '../deep-chat-element.ts'

show({
  loadHistory: (index: number) => {
    const to = MESSAGES + 1 - index * PAGE
    const page = contents(Math.max(1, to - PAGE), to)
    // Of all that is no message it takes that there are more.
    return to - PAGE > 1 ? [false, ...page] : page
  },
})
