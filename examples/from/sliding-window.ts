// The last 20 exchanges, beside documents that are always there.
import { addExchange, createMemory, mapStore, profile, slidingWindow } from 'plimsoll'

const memory = createMemory({ store: mapStore(), ...slidingWindow(), use: [profile()] })
await memory.user({ userId: 'ada' }).profile.set('SOUL.md', 'You are calm.')
for (let n = 1; n <= 22; n++)
  console.log(
    n,
    (await addExchange(memory.session({ userId: 'ada' }), `Question ${n}?`, `Answer ${n}.`)).length,
  )
