import { MAX_DEPTH } from '../kernel/text/check-json.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../kernel/text/json.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Envelope, HandedOut, IndexEntry, Name } from '../ports/op.ts'
import { PAGE_ROWS } from '../ports/store.ts'
import {
  type Answers,
  PUSH_OPS,
  type PullAnswer,
  type PulledOp,
  type PullRequest,
  type PushAnswer,
  type PushRejection,
  type PushRequest,
  type PushResult,
  SYNC_PROTOCOL,
  SYNC_SCOPES,
  type SyncFailure,
  type SyncOp,
  type SyncScope,
} from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { KINDS } from './known-op.ts'

/**
 * The messages of sync as they travel: JSON, in which nothing is said twice. Fields that are not
 * known are passed over. All that is read is checked: what is malformed is refused whole.
 */

/** Levels of a body that travels as JSON: those of an app's value, and the message around it. */
const BODY_LEVELS = MAX_DEPTH + 8
/** Levels around it: the scopes, a scope, its ops, an op, its registers, one of them. */
const LEVELS_AROUND = 8
/** Longest key, and longest name of an entry, a register or an op, in UTF-8 bytes. */
const MOST_NAME_BYTES = 512
/** Most stretches of {@link PullRequest.known}. */
const MOST_KNOWN = 512
/** Kinds of log rows that no mark may take. */
const TAKEN: ReadonlySet<string> = new Set([...KINDS, 'message'])

type Fields = Record<string, unknown>
type Scoped<Request> = readonly (Request & SyncScope)[]

export function encodePush(requests: Scoped<PushRequest>): string {
  return encodeRequests(requests, ({ generation, ops }) => ({ generation, ops: opsToWire(ops) }))
}

/** @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED (messages of another version) */
export function decodePush(text: string): Scoped<PushRequest> {
  const requests = decodeRequests('push', text, (read, { generation, ops }) => ({
    generation: read.generation('generation', generation),
    ops: read.ops(ops, opIn),
  }))
  const count = requests.reduce((sum, { ops }) => sum + ops.length, 0)
  if (count > PUSH_OPS) throw invalid('push', 'scopes', `have ${count} ops, more than ${PUSH_OPS}`)
  return requests
}

export function encodePull(requests: Scoped<PullRequest>): string {
  return encodeRequests(requests, ({ generation, cursor, anchor, limit, known }) => ({
    generation,
    cursor,
    anchor: anchor || undefined,
    limit,
    known: known?.map(({ from, to }) => [from, to]),
  }))
}

/** @throws as {@link decodePush} */
export function decodePull(text: string): Scoped<PullRequest> {
  return decodeRequests('pull', text, (read, { generation, cursor, anchor = '', limit, known }) => ({
    ...(generation !== undefined && { generation: read.generation('generation', generation) }),
    cursor: read.count('cursor', cursor),
    anchor: read.name('anchor', anchor, 0),
    ...(limit !== undefined && { limit: read.count('limit', limit, 1) }),
    ...(known !== undefined && {
      known: read.list('known', known, MOST_KNOWN).map((pair, place) => {
        const [from, to] = read.at(`known[${place}]`).list('', pair, 2)
        return { from: read.count('known', from, 1), to: read.count('known', to, 1) }
      }),
    }),
  }))
}

/** @param time the home's, Unix milliseconds */
export function encodePushAnswers(answers: Answers<PushAnswer>, time = answers.time): string {
  return encodeAnswers(answers, time, (answer) =>
    'erased' in answer
      ? answer
      : { ...answer, results: answer.results.map((one) => ('seq' in one ? one.seq : one)) },
  )
}

/** @throws ERR_INVALID_ARGUMENT */
export function decodePushAnswers(text: string): Answers<PushAnswer> {
  return decodeAnswers('push', text, (read, { generation: named, erased, results, head }) => {
    const generation = read.generation('generation', named)
    if (erased === true) return { erased, generation }
    return {
      generation,
      results: read.list('results', results, PUSH_OPS).map((one, place) => {
        const name = `results[${place}]`
        return typeof one === 'number'
          ? { seq: read.count(name, one) }
          : resultIn(read.at(name), read.object(name, one))
      }),
      head: read.count('head', head),
    }
  })
}

function resultIn(read: Reader, { conflict, rejected }: Fields): PushResult {
  if (rejected !== undefined) return { rejected: read.name('rejected', rejected) as PushRejection }
  return { conflict: conflict === null ? null : read.name('conflict', conflict) }
}

/** @param time the home's, Unix milliseconds */
export function encodePullAnswers(answers: Answers<PullAnswer>, time = answers.time): string {
  return encodeAnswers(answers, time, (answer) =>
    'reset' in answer
      ? answer
      : { ...answer, anchor: answer.anchor || undefined, ops: opsToWire(answer.ops) },
  )
}

const RESETS = ['erased', 'diverged', 'too-old'] as const

/** @throws ERR_INVALID_ARGUMENT */
export function decodePullAnswers(text: string): Answers<PullAnswer> {
  return decodeAnswers('pull', text, (read, fields) => {
    const { generation: named, from, ops, cursor, anchor = '', head } = fields
    const generation = read.generation('generation', named)
    if (fields.reset !== undefined) {
      const reset = RESETS.find((one) => one === fields.reset)
      if (!reset) throw read.invalid('reset', `must be one of ${RESETS.join(', ')}`)
      return { reset, generation }
    }
    return {
      generation,
      from: read.count('from', from),
      ops: read.ops(ops, (one, before) =>
        typeof one.value === 'string' ? { opId: one.name('', one.value) } : opIn(one, before),
      ),
      cursor: read.count('cursor', cursor),
      anchor: read.name('anchor', anchor, 0),
      head: read.count('head', head),
    }
  })
}

function encodeRequests<Request>(requests: Scoped<Request>, toWire: (request: Request) => Fields): string {
  const scopes = requests.map((request) => ({ session: request.sessionId, ...toWire(request) }))
  return JSON.stringify({ proto: SYNC_PROTOCOL, scopes })
}

function decodeRequests<Request>(
  operation: string,
  text: string,
  fromWire: (read: Reader, fields: Fields) => Request,
): Scoped<Request> {
  const read = new Reader(operation, '', parse(operation, text))
  const { proto, scopes } = read.object('', read.value)
  if (read.count('proto', proto) !== SYNC_PROTOCOL) {
    const reason = `messages of version ${proto} are not understood, only ${SYNC_PROTOCOL}`
    throw new PlimsollError('ERR_UPGRADE_REQUIRED', `${operation}: ${reason}`)
  }
  return read.each('scopes', scopes, SYNC_SCOPES, (one) => {
    const fields = one.object('', one.value)
    const { session } = fields
    return {
      ...(session !== undefined && { sessionId: checkId(operation, one.path('session'), session) }),
      ...fromWire(one, fields),
    }
  })
}

function encodeAnswers<Answer extends object>(
  answers: Answers<Answer>,
  time: number | undefined,
  toWire: (answer: Answer) => object,
): string {
  return JSON.stringify({
    time,
    scopes: answers.map((answer) => {
      if (!isFailure(answer)) return toWire(answer)
      const { code, message, retryAfter } = answer.error
      return { error: { code, message, retry_after: retryAfter } }
    }),
  })
}

export function isFailure(answer: object): answer is SyncFailure {
  return 'error' in answer
}

function decodeAnswers<Answer>(
  operation: string,
  text: string,
  fromWire: (read: Reader, fields: Fields) => Answer,
): Answers<Answer> {
  const read = new Reader(operation, '', parse(operation, text))
  const { scopes, time } = read.object('', read.value)
  const answers = read.each('scopes', scopes, SYNC_SCOPES, (one): Answer | SyncFailure => {
    const fields = one.object('', one.value)
    if (fields.error === undefined) return fromWire(one, fields)
    const { code, message, retry_after: wait } = one.object('error', fields.error)
    return {
      error: {
        code: one.name('error.code', code),
        message: checkText(operation, 'error.message', message),
        ...(wait !== undefined && { retryAfter: one.count('error.retry_after', wait) }),
      },
    }
  })
  return time === undefined ? answers : Object.assign(answers, { time: read.count('time', time) })
}

function parse(operation: string, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(operation, 'body', 'must be JSON')
  }
  // Before anything walks through it that recurses.
  if (isDeeper(value, BODY_LEVELS + LEVELS_AROUND)) throw invalid(operation, 'body', 'is nested too deep')
  return value
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1))
}

/** A body as a value where that gives the same text again, else as a text. */
function bodyToWire(body: string | null): unknown {
  if (body === null) return null
  try {
    const value: unknown = JSON.parse(body)
    // Else it would be taken for a text, or for none.
    if (typeof value === 'string' || value === null) return body
    return !isDeeper(value, BODY_LEVELS) && JSON.stringify(value) === body ? value : body
  } catch {
    return body
  }
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

function opsToWire(ops: readonly PulledOp[]): readonly unknown[] {
  let before: string | undefined
  return ops.map((op) => {
    if (!('envelope' in op)) return op.opId
    const wire = opToWire(op, before)
    before = op.envelope.round ?? before
    return wire
  })
}

/** Reads a value that came from elsewhere, and says in errors where in it something is wrong. */
class Reader {
  readonly operation: string
  readonly place: string
  readonly value: unknown

  constructor(operation: string, place: string, value: unknown) {
    this.operation = operation
    this.place = place
    this.value = value
  }

  at(name: string, value?: unknown): Reader {
    return new Reader(this.operation, this.path(name), value)
  }

  path(name: string): string {
    return [this.place, name].filter(Boolean).join('.') || 'body'
  }

  invalid(name: string, reason: string): PlimsollError {
    return invalid(this.operation, this.path(name), reason)
  }

  object(name: string, value: unknown): Fields {
    if (isPlainObject(value)) return value
    throw this.invalid(name, 'must be an object')
  }

  list(name: string, value: unknown, most = Number.POSITIVE_INFINITY): readonly unknown[] {
    if (!Array.isArray(value)) throw this.invalid(name, 'must be a list')
    if (value.length > most) throw this.invalid(name, `must have at most ${most} items`)
    return value
  }

  each<Item>(name: string, value: unknown, most: number, item: (read: Reader) => Item): readonly Item[] {
    return this.list(name, value, most).map((one, place) => item(this.at(`${name}[${place}]`, one)))
  }

  count(name: string, value: unknown, least = 0): number {
    return checkCount(this.operation, this.path(name), value, least)
  }

  /** A well-formed text of `least` to 512 bytes. */
  name(name: string, value: unknown, least = 1): string {
    const text = checkText(this.operation, this.path(name), value)
    if (text.length >= least && utf8Length(text) <= MOST_NAME_BYTES) return text
    throw this.invalid(name, `must have ${least} to ${MOST_NAME_BYTES} bytes`)
  }

  generation(name: string, value: unknown): string {
    return this.name(name, value, 0)
  }

  id(name: string, value: unknown): string {
    return checkId(this.operation, this.path(name), value)
  }

  /** What a delete or a source names. */
  named(name: string, value: unknown): Name {
    const text = this.name(name, value)
    if (/^(entry|register|attachment|user):/.test(text)) return text as Name
    throw this.invalid(name, 'must begin with entry:, register:, attachment: or user:')
  }

  body(name: string, value: unknown): string | null {
    if (value === null) return null
    return typeof value === 'object' || typeof value === 'number' || typeof value === 'boolean'
      ? JSON.stringify(value)
      : checkText(this.operation, this.path(name), value)
  }

  ops<Op extends PulledOp>(
    value: unknown,
    item: (read: Reader, before: string | undefined) => Op,
  ): readonly Op[] {
    let before: string | undefined
    return this.each('ops', value, PAGE_ROWS, (read) => {
      const op = item(read, before)
      if ('envelope' in op) before = op.envelope.round ?? before
      return op
    })
  }
}

/** An op. @param before round of the append before it */
function opIn(read: Reader, before: string | undefined): SyncOp {
  const fields = read.object('', read.value)
  const [kind, more] = kindIn(read, fields)
  const { op, id, ids: several, body, bodies, base, lane, sources, index, contexts, beside } = fields
  const hasOne = more.key !== undefined || id !== undefined
  const own = more.key ?? (id === undefined ? undefined : read.id('id', id))
  const ids =
    own === undefined ? read.each('ids', several ?? [], PAGE_ROWS, (one) => one.id('', one.value)) : [own]
  if ((kind === 'append' && ids.length === 0) || (kind === 'mark' && ids.length !== 1))
    throw read.invalid('id', kind === 'mark' ? 'must be one' : 'is missing')
  if (op === undefined && (more.key !== undefined || ids.length !== 1)) throw read.invalid('op', 'is missing')
  const round = kind === 'append' && (fields.round === 0 ? before : (fields.round ?? ids[0]))
  const envelope: Envelope = {
    opId: op === undefined ? `entry:${ids[0]}` : read.name('op', op),
    kind,
    ids,
    ...more,
    ...(round !== false && { round: read.id('round', round) }),
    ...(base != null && { base: read.name('base', base) }),
    ...(lane !== undefined && { lane: read.name('lane', lane) }),
    ...(sources !== undefined && {
      sources: read.each('sources', sources, Infinity, (one) => one.named('', one.value)),
    }),
    ...(index !== undefined && { index: read.each('index', index, Infinity, indexIn) }),
    ...(fields.attachments !== undefined && {
      attachments: read.each('attachments', fields.attachments, Infinity, (one) => one.id('', one.value)),
    }),
    ...(contexts !== undefined && { contexts: read.each('contexts', contexts, Infinity, contextIn) }),
  }
  const values = hasOne ? [body] : read.list('bodies', bodies ?? (ids.length === 1 ? [body] : []))
  if (values.length !== ids.length) throw read.invalid('bodies', 'must be one for each id')
  return {
    envelope,
    bodies: values.map((one, place) => read.body(`bodies[${place}]`, one)),
    ...(beside !== undefined && { beside: read.each('beside', beside, PAGE_ROWS, besideIn) }),
  }
}

/** What an op is, by the field that only its kind has. */
function kindIn(
  read: Reader,
  { kind, mark, put, delete: target, erase }: Fields,
): readonly [Envelope['kind'], Partial<Envelope>] {
  if (put !== undefined) return ['put', { key: read.name('put', put) }]
  if (target !== undefined) return ['delete', { target: read.named('delete', target) }]
  if (erase !== undefined) return ['erase', {}]
  if (kind === undefined && mark === undefined) return ['append', {}]
  const name = mark === undefined ? 'kind' : 'mark'
  const unknown = read.name(name, mark ?? kind)
  if (TAKEN.has(unknown)) throw read.invalid(name, `cannot be ${unknown}`)
  return mark === undefined ? [unknown as Envelope['kind'], {}] : ['mark', { mark: unknown }]
}

function indexIn(read: Reader): IndexEntry {
  const { group, order, weight } = read.object('', read.value)
  if (weight !== undefined && !Number.isSafeInteger(weight))
    throw read.invalid('weight', 'must be a whole number')
  return {
    group: read.name('group', group),
    ...(order !== undefined && { order: read.name('order', order, 0) }),
    ...(weight !== undefined && { weight: weight as number }),
  }
}

function contextIn(read: Reader): HandedOut {
  const [hash, seq] = read.list('', read.value, 2)
  return { hash: read.name('', hash), seq: read.count('', seq) }
}

function besideIn(read: Reader): { readonly key: string; readonly body: string } {
  const [key, body] = read.list('', read.value, 2)
  const text = read.body('', body)
  if (text === null) throw read.invalid('', 'must have a body')
  return { key: read.name('', key), body: text }
}
