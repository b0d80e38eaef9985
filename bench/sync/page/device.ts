import type { DeviceOrder, Exchange, PlainMessage } from '../orders.ts'

/** A subject on a device, open, and cut off from its server until it is told. */
export interface Device {
  /** Writes all of it, durable when it resolves. */
  write(exchanges: readonly Exchange[]): Promise<void>
  /**
   * Lets it reach the server. Resolves when all is sent and confirmed, or all is fetched, and
   * durable.
   */
  goOnline(): Promise<void>
  /** What it keeps, in order. */
  messages(): Promise<readonly PlainMessage[]>
  /** Ends it, and removes its database. */
  remove(): Promise<void>
}

export type OpenDevice = (order: DeviceOrder) => Promise<Device>

/** The exchanges as messages of a peer, with ids and times as the library makes them. */
export function messagesOf(exchanges: readonly Exchange[], newId: () => string): PlainMessage[] {
  return exchanges.flatMap(([asked, answered]) => {
    const message = (role: string, content: string) => ({ id: newId(), role, content, createdAt: Date.now() })
    return [message('user', asked), message('assistant', answered)]
  })
}
