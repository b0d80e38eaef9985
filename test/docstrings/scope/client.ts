/** The same for examples of the client. */
import { createClient } from 'plimsoll/client'

export const auth = { token: () => 'a token' }
export const session = createClient({ baseUrl: 'https://memory.example.com', token: 'a token' }).session(
  'trip',
)
