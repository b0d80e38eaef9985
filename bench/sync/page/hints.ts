import type { Transport } from '../../../src/ports/sync.ts'
import { CHANGES, type HomeOrder } from '../orders.ts'

type Pokes = NonNullable<Transport['pokes']>

/** How pages hear of changes at home, for as long as the bench takes: no connection is made again. */
export function pokesOf({ url, token, session, hints }: HomeOrder): Pokes {
  return hints === 'events'
    ? eventPokes(url)
    : socketPokes(`${url}/v1/sessions/${session}/live`, token, session)
}

/** The stream of the reference server. */
function eventPokes(url: string): Pokes {
  return (_, listener) => {
    const source = new EventSource(url + CHANGES)
    source.onopen = () => listener(undefined)
    source.onmessage = ({ data }) => listener({ scope: JSON.parse(data) })
    return () => source.close()
  }
}

/** The edge's socket of a session. */
function socketPokes(url: string, token: string, sessionId: string): Pokes {
  return (_, listener) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), ['plimsoll.v1', `bearer.${token}`])
    socket.onopen = () => listener(undefined)
    socket.onmessage = () => listener({ scope: { sessionId } })
    return () => socket.close()
  }
}
