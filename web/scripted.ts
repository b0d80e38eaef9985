/** What stands in for a model on this page: replies made of figures, and messages to fill a conversation with. */
import type { Context, MessageInput } from '../src/index.ts'
import { messagesIn, shortageIn } from './context-figures.ts'
import { counted, figure } from './dom.ts'

/** Characters of the oldest message that a reply quotes. */
const QUOTED = 48

/** Says what a model would have been given in this call. */
export function replyTo(context: Context): string {
  const { shown, summarised, omitted } = messagesIn(context)
  const { used, cap } = context.receipt
  const hidden = summarised + omitted
  const given = hidden === 0 ? 'all of them' : `the newest ${figure(shown)}`
  const oldest = oldestText(context)
  return [
    `The log holds ${counted(shown + hidden, 'message')}.`,
    `A model would now be given ${given}${summarised > 0 ? ` and a summary of ${figure(summarised)}` : ''}: ${figure(used)} of ${figure(cap)} tokens.`,
    ...(hidden > 0 && oldest !== '' ? [`The oldest that it would see begins “${oldest}”.`] : []),
  ].join(' ')
}

export function refusalOf(error: Error): string {
  const shortage = shortageIn(error)
  if (!shortage) return error.message
  const { floor, cap } = shortage
  return `A model could not be called: even the least context takes ${figure(floor)} tokens, and the line is at ${figure(cap)}. A shorter message fits again.`
}

function oldestText({ blocks }: Context): string {
  for (const { section, parts } of blocks) {
    const [part] = parts
    if (section === 'window' && part?.type === 'text')
      return part.text.length > QUOTED ? `${part.text.slice(0, QUOTED)}…` : part.text
  }
  return ''
}

const PLACES = ['Turin', 'Genoa', 'Trieste', 'Lecce', 'Verona', 'Parma', 'Bari', 'Ancona', 'Siena', 'Udine']

/** So many messages of a travel agency's chat; every fourth exchange looks trains up, with a long result. */
export function* scriptedMessages(count: number): Generator<MessageInput> {
  let left = count
  for (let number = 0; left > 0; number++) {
    const exchange = number % 4 === 2 && left >= 4 ? lookUp(number) : smallTalk(number)
    left -= exchange.length
    yield* exchange
  }
}

function smallTalk(number: number): readonly MessageInput[] {
  const place = placeOf(number)
  return [
    {
      role: 'user',
      content: `What is ${place} like in week ${1 + (number % 52)}, and is it crowded?`,
    },
    {
      role: 'assistant',
      content: `${place} is quiet then. The market is on in the mornings, the castle opens at ten, and a room near the station is easy to find. Trains leave every hour; the last one back is at 22:${10 + (number % 50)}.`,
    },
  ]
}

function lookUp(number: number): readonly MessageInput[] {
  const place = placeOf(number)
  const id = `call-${number}`
  const trains = Array.from({ length: 12 }, (_, index) => ({
    number: `EC${150 + number + index}`,
    leaves: `${String(6 + index).padStart(2, '0')}:40`,
    to: place,
    seats: 40 - index,
    price: 29 + index,
  }))
  return [
    { role: 'user', content: `Which trains go to ${place}?` },
    { role: 'assistant', content: [{ type: 'tool-call', id, name: 'find_trains', input: { to: place } }] },
    { role: 'tool', content: [{ type: 'tool-result', callId: id, output: { trains } }] },
    {
      role: 'assistant',
      content: `Twelve a day to ${place}. The first leaves at 06:40, and ${trains[0]?.number} is the cheapest.`,
    },
  ]
}

function placeOf(number: number): string {
  return PLACES[number % PLACES.length] ?? ''
}
