import { PlimsollError } from '../ports/errors.ts'
import type { Envelope } from '../ports/op.ts'
import {
  type Answers,
  type LogStart,
  type PullAnswer,
  type PulledOp,
  type PullRequest,
  type PushAnswer,
  type PushRejection,
  type PushRequest,
  type PushResult,
  SYNC_PROTOCOL,
  type SyncFailure,
  type SyncOp,
  type SyncScope,
} from '../ports/sync.ts'
import { MAX_DEPTH } from '../text/check-json.ts'
import { jsonIn } from '../text/json-in.ts'
import { KINDS } from './known-op.ts'

/**
 * The messages of sync as they travel: JSON, in which nothing is said twice. Fields that are not
 * known are passed over. A replica takes what its home says as it is, where it is an answer at all;
 * what a home is sent, `wire-requests.ts` checks.
 */

/** Levels of a body that travels as JSON: those of an app's value, and the message around it. */
export const BODY_LEVELS = MAX_DEPTH + 8

export type Fields = Record<string, unknown>
export type Scoped<Request> = readonly (Request & SyncScope)[]

export function encodePush(requests: Scoped<PushRequest>): string {
  return encodeRequests(requests, ({ generation, ops, without }) => ({
    generation,
    ops: opsToWire(ops),
    without,
  }))
}

export function encodePull(requests: Scoped<PullRequest>): string {
  return encodeRequests(requests, ({ anchor, known, ...others }) => ({
    ...others,
    anchor: anchor || undefined,
    known: known?.map(({ from, to }) => [from, to]),
    sessionId: undefined,
  }))
}

/** @throws ERR_OFFLINE: it is no answer of a home */
export function decodePushAnswers(text: string): Answers<PushAnswer> {
  return decodeAnswers(text, ({ generation, erased, results, head, repeated, lacks }) =>
    erased === true
      ? { erased, generation: string(generation) }
      : {
          generation: string(generation),
          results: list(results).map(resultIn),
          head: number(head),
          ...(repeated !== undefined && { repeated: list(repeated).map(number) }),
          ...(lacks !== undefined && { lacks: list(lacks).map(string) }),
        },
  )
}

function resultIn(value: unknown): PushResult {
  if (typeof value === 'number') return { seq: number(value) }
  const { rejected, conflict } = value as Fields
  if (rejected !== undefined) return { rejected: string(rejected) as PushRejection }
  return { conflict: conflict === null ? null : string(conflict) }
}

/** @throws as {@link decodePushAnswers} */
export function decodePullAnswers(text: string): Answers<PullAnswer> {
  return decodeAnswers(text, ({ generation, reset, from, ops, cursor, anchor = '', head, ...told }) =>
    reset !== undefined
      ? { reset: string(reset) as 'erased', generation: string(generation) }
      : {
          generation: string(generation),
          from: number(from),
          ops: opsFromWire(list(ops)),
          cursor: number(cursor),
          anchor: string(anchor),
          head: number(head),
          ...(told.start !== undefined && { start: told.start as LogStart }),
          ...(told.replicas !== undefined && {
            replicas: pairs(told.replicas).map(([name, seq]) => ({ name: string(name), seq: number(seq) })),
          }),
          ...(told.emptiedAt !== undefined && { emptiedAt: number(told.emptiedAt) }),
        },
  )
}

function encodeRequests<Request>(requests: Scoped<Request>, toWire: (request: Request) => Fields): string {
  const scopes = requests.map((request) => ({ session: request.sessionId, ...toWire(request) }))
  return JSON.stringify({ proto: SYNC_PROTOCOL, scopes })
}

function decodeAnswers<Answer>(text: string, fromWire: (fields: Fields) => Answer): Answers<Answer> {
  try {
    const { scopes, time } = JSON.parse(text)
    const answers = list(scopes).map((one): Answer | SyncFailure => {
      const { error } = one as { error?: { code: string; message: string; retry_after?: number } }
      if (!error) return fromWire(one as Fields)
      const { code, message, retry_after: wait } = error
      return { error: { code, message, ...(typeof wait === 'number' && { retryAfter: wait }) } }
    })
    return time === undefined ? answers : Object.assign(answers, { time: number(time) })
  } catch (cause) {
    // Who answers something else is not the home; what was sent may be written all the same.
    throw new PlimsollError('ERR_OFFLINE', 'sync: the answer is none of a home', { cause })
  }
}

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1))
}

/** A body as a value where that gives the same text again, else as a text. */
function bodyToWire(body: string | null): unknown {
  if (body === null) return null
  const value = jsonIn(body)
  // Else it would be taken for a text, or for none.
  if (typeof value === 'string' || value === null) return body
  return !isDeeper(value, BODY_LEVELS) && JSON.stringify(value) === body ? value : body
}

/** @param before round of the append before it */
function opToWire({ envelope, bodies, beside }: SyncOp, before: string | undefined): Fields {
  const { opId, kind, ids, mark, round, key, base, lane, target, sources, index, attachments, contexts } =
    envelope
  const values = bodies.map(bodyToWire)
  return {
    op: isNamedByEntry(envelope) ? undefined : opId,
    kind: KINDS.has(kind) ? undefined : kind,
    mark,
    put: key,
    delete: target,
    erase: kind === 'erase' || undefined,
    ...(ids.length > 1 ? { ids } : { id: key === undefined ? ids[0] : undefined }),
    round: round === ids[0] || round === undefined ? undefined : round === before ? 0 : round,
    base: base ?? undefined,
    lane,
    sources,
    index,
    attachments,
    contexts: contexts?.map(({ hash, seq }) => [hash, seq]),
    ...(ids.length > 1 ? { bodies: values } : { body: values[0] }),
    beside: beside?.map(({ key, body }) => [key, bodyToWire(body)]),
  }
}

/** An op that is one with its entry. */
function isNamedByEntry({ opId, ids, key }: Envelope): boolean {
  return key === undefined && ids.length === 1 && opId === `entry:${ids[0]}`
}

export function opsToWire(ops: readonly PulledOp[]): readonly unknown[] {
  let before: string | undefined
  return ops.map((op) => {
    if (!('envelope' in op)) return op.opId
    const wire = opToWire(op, before)
    before = op.envelope.round ?? before
    return wire
  })
}

function opsFromWire(ops: readonly unknown[]): readonly PulledOp[] {
  let before: string | undefined
  return ops.map((one) => {
    if (typeof one === 'string') return { opId: one }
    const op = opFromWire(one as Fields, before)
    before = op.envelope.round ?? before
    return op
  })
}

/** @param before round of the append before it */
export function opFromWire(fields: Fields, before: string | undefined): SyncOp {
  const { op, id, kind, mark, put, delete: target, erase, base, lane, sources, index } = fields
  const { contexts, attachments, body, bodies, beside } = fields
  const own = put ?? id
  const ids = own === undefined ? list(fields.ids ?? []) : [own]
  const is = put !== undefined ? 'put' : target !== undefined ? 'delete' : erase ? 'erase' : mark && 'mark'
  const round = fields.round === 0 ? before : (fields.round ?? ids[0])
  const envelope = {
    opId: op ?? `entry:${ids[0]}`,
    kind: is ?? kind ?? 'append',
    ids: ids.map(string),
    ...defined({ mark, key: put, target, base: base ?? undefined, lane, sources, index, attachments }),
    ...(!is && !kind && { round: string(round) }),
    ...(contexts !== undefined && { contexts: pairs(contexts).map(([hash, seq]) => ({ hash, seq })) }),
  }
  return {
    envelope: envelope as object as Envelope,
    bodies: list(own === undefined && (bodies || ids.length !== 1) ? (bodies ?? []) : [body]).map(
      bodyFromWire,
    ),
    ...(beside !== undefined && {
      beside: pairs(beside).map(([key, body]) => ({ key: string(key), body: string(bodyFromWire(body)) })),
    }),
  }
}

function bodyFromWire(body: unknown): string | null {
  return body === null ? null : string(typeof body === 'string' ? body : JSON.stringify(body))
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function pairs(value: unknown): readonly (readonly [unknown, unknown])[] {
  return list(value).map((pair) => list(pair) as [unknown, unknown])
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new TypeError('is none of a home')
}

function string(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('is none of a home')
}

function number(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number
  throw new TypeError('is none of a home')
}
