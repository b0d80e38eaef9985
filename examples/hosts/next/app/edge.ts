import { createClient } from 'plimsoll/client'

/** Where `npm start` runs, for the server and for the browser. */
export const EDGE = process.env.NEXT_PUBLIC_EDGE ?? 'http://127.0.0.1:8787'
export const client = createClient({ baseUrl: EDGE })
