/** Histories of two devices whose worlds parted once. */
import type { History } from './steps.ts'

export const FOUND: readonly History[] = [
  // Both wrote one document, and one of them removed it: a head of the other one kept its text.
  {
    before: [
      { does: 'profile', value: 3, secret: true, filler: 0 },
      { does: 'move' },
      { does: 'together', in: 'trip' },
      { does: 'profile', value: 3, secret: false, filler: 0 },
    ],
    after: [],
  },
  // A summary was asked by one more turn, when the secret was another one than that of the head: it
  // named a head that there was not, and stayed when what that showed was forgotten.
  {
    before: [
      { does: 'say', in: 'trip', role: 'user', secret: false, filler: 0, picture: false },
      { does: 'move' },
      { does: 'say', in: 'trip', role: 'user', secret: false, filler: 3, picture: true },
      { does: 'commit', in: 'trip', secret: true },
      { does: 'profile', value: 0, secret: false, filler: 58 },
      { does: 'context', in: 'trip', tab: 0, newEpoch: false, preview: false, system: '', resume: 0 },
      { does: 'say', in: 'trip', role: 'system', secret: false, filler: 28, picture: false },
      { does: 'sync', device: 0 },
      { does: 'sync', device: 1 },
      { does: 'say', in: 'trip', role: 'user', secret: false, filler: 0, picture: false },
      { does: 'say', in: 'trip', role: 'user', secret: false, filler: 17, picture: true },
      { does: 'forget', in: 'trip', of: 'message', at: 16 },
      {
        does: 'context',
        in: 'trip',
        tab: 0,
        newEpoch: true,
        preview: false,
        system: 'Answer in rhymes.',
        resume: 0,
      },
    ],
    after: [],
  },
]
