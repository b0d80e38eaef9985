import type { MessageInput } from '../ports/message.ts'
import { toWire } from '../ports/wire.ts'

/**
 * What a body, and a part, takes at most, in UTF-8 bytes: a mebibyte, with room for the rest of the
 * request.
 */
export const BODY_BYTES = 900 * 1024

const encoder = new TextEncoder()

/** A message that is too long for one body. */
export interface LongMessage {
  readonly id: string
  /** Slices of its JSON, in wire form. */
  readonly parts: readonly string[]
}

/**
 * What is sent for messages: some of them in parts before, and all of them, or their names, in the
 * body.
 */
export interface Packed {
  readonly long: readonly LongMessage[]
  readonly messages: readonly object[]
}

/**
 * Takes messages out of a body, the largest first, until what is left fits. Those that have no id
 * are given one.
 */
export function pack(given: readonly MessageInput[], newId: () => string): Packed {
  const messages: object[] = [...given]
  const sizes = given.map((message) => encoder.encode(textOf(message)).length)
  const order = [...sizes.keys()].sort((one, other) => (sizes[other] ?? 0) - (sizes[one] ?? 0))
  let rest = sizes.reduce((sum, size) => sum + size, 0)
  const long: LongMessage[] = []
  for (const index of order) {
    if (rest <= BODY_BYTES) break
    const message = { ...given[index], id: given[index]?.id ?? newId() }
    const parts = slices(textOf(message), BODY_BYTES)
    long.push({ id: message.id, parts })
    messages[index] = { id: message.id, parts: parts.length }
    rest -= sizes[index] ?? 0
  }
  return { long, messages }
}

function textOf(message: object): string {
  return JSON.stringify(toWire(message))
}

/**
 * A well-formed text in slices of at most so many UTF-8 bytes, 4 or more, none of which parts a
 * character.
 */
export function slices(text: string, bytes: number): readonly string[] {
  const room = new Uint8Array(bytes)
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    const { read } = encoder.encodeInto(text.slice(at), room)
    found.push(text.slice(at, at + read))
    at += read
  }
  return found
}
