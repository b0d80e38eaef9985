import type { Transport } from '../../../src/ports/sync.ts'
import { CHANGES } from '../orders.ts'

/** Hears of changes by the stream of the reference server. No connection is made again. */
export function streamPokes(url: string): NonNullable<Transport['pokes']> {
  return (_, listener) => {
    const source = new EventSource(url + CHANGES)
    source.onopen = () => listener(undefined)
    source.onmessage = ({ data }) => listener({ scope: JSON.parse(data) })
    return () => source.close()
  }
}
