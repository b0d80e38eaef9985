import { refused } from './refused.mjs'

await refused('plimsoll/hono: needs `zod` 4 or later, found an older one', () => import('plimsoll/hono'))
