import { PlimsollError } from '../ports/errors.ts'
import type { Name } from '../ports/op.ts'
import { PAGE_ROWS } from '../ports/store.ts'
import {
  type Answers,
  type AttachmentRequest,
  type Newest,
  PUSH_OPS,
  type PullAnswer,
  type PullRequest,
  type PushAnswer,
  type PushRequest,
  SYNC_PROTOCOL,
  SYNC_SCOPES,
  type SyncFailure,
  type SyncOp,
} from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../text/json.ts'
import { KINDS } from './known-op.ts'
import { BODY_LEVELS, type Fields, isDeeper, opFromWire, opsToWire, type Scoped } from './wire.ts'

/**
 * What a home reads and answers. All that is read is checked: what is malformed is refused whole.
 */

/** Levels around a body: the scopes, a scope, its ops, an op, its registers, one of them. */
const LEVELS_AROUND = 8
/** Longest key, and longest name of an entry, a register or an op, in UTF-8 bytes. */
const MOST_NAME_BYTES = 512
/** Longest name of a replica. */
const MOST_REPLICA_BYTES = 64
/** Most stretches of {@link PullRequest.known}, and most names of {@link PullRequest.waiting}. */
const MOST_KNOWN = 512
/** Kinds of log rows that no mark may take. */
const TAKEN: ReadonlySet<string> = new Set([...KINDS, 'message'])

/** @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED (messages of another version) */
export function decodePush(text: string): Scoped<PushRequest> {
  const requests = decodeRequests('push', text, (read, { generation, ops, without }) => ({
    generation: read.generation('generation', generation),
    ops: read.ops(ops),
    ...(without !== undefined && {
      without: read.each('without', without, Number.POSITIVE_INFINITY, (one) => one.id('', one.value)),
    }),
  }))
  const count = requests.reduce((sum, { ops }) => sum + ops.length, 0)
  if (count > PUSH_OPS) throw invalid('push', 'scopes', `have ${count} ops, more than ${PUSH_OPS}`)
  return requests
}

/** @throws as {@link decodePush} */
export function decodePull(text: string): Scoped<PullRequest> {
  return decodeRequests('pull', text, (read, { generation, cursor, anchor = '', known, ...fields }) => ({
    ...(generation !== undefined && { generation: read.generation('generation', generation) }),
    cursor: read.count('cursor', cursor),
    anchor: read.name('anchor', anchor, 0),
    ...(fields.replica !== undefined && {
      replica: read.name('replica', fields.replica, 1, MOST_REPLICA_BYTES),
    }),
    ...(fields.limit !== undefined && { limit: read.count('limit', fields.limit, 1) }),
    ...(fields.start !== undefined && { start: startIn(read, fields.start) }),
    ...(fields.waiting !== undefined && {
      waiting: read.each('waiting', fields.waiting, MOST_KNOWN, (one) => one.name('', one.value)),
    }),
    ...(known !== undefined && {
      known: read.list('known', known, MOST_KNOWN).map((pair, place) => {
        const [from, to] = read.at(`known[${place}]`).list('', pair, 2)
        return { from: read.count('known', from, 1), to: read.count('known', to, 1) }
      }),
    }),
  }))
}

/** Where a log is to begin: after a seq, or with the newest. */
function startIn(read: Reader, value: unknown): number | Newest {
  if (typeof value === 'number') return read.count('start', value)
  const { bytes, since } = read.object('start', value)
  return {
    ...(bytes !== undefined && { bytes: read.count('start.bytes', bytes, 1) }),
    ...(since !== undefined && { since: read.count('start.since', since, Number.MIN_SAFE_INTEGER) }),
  }
}

/** Which attachment a query names. @throws ERR_INVALID_ARGUMENT */
export function attachmentIn(query: URLSearchParams): AttachmentRequest {
  const read = new Reader('attachment', '', undefined)
  const session = query.get('session')
  return {
    ...(session !== null && { sessionId: read.id('session', session) }),
    generation: read.generation('generation', query.get('generation') ?? undefined),
    id: read.id('id', query.get('id') ?? undefined),
  }
}

/** @param time the home's, Unix milliseconds */
export function encodePushAnswers(answers: Answers<PushAnswer>, time = answers.time): string {
  return encodeAnswers(answers, time, (answer) =>
    'erased' in answer
      ? answer
      : { ...answer, results: answer.results.map((one) => ('seq' in one ? one.seq : one)) },
  )
}

/** @param time the home's, Unix milliseconds */
export function encodePullAnswers(answers: Answers<PullAnswer>, time = answers.time): string {
  return encodeAnswers(answers, time, (answer) =>
    'reset' in answer
      ? answer
      : {
          ...answer,
          anchor: answer.anchor || undefined,
          ops: opsToWire(answer.ops),
          replicas: answer.replicas?.map(({ name, seq }) => [name, seq]),
        },
  )
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

  /** A well-formed text of `least` to `most` bytes. */
  name(name: string, value: unknown, least = 1, most = MOST_NAME_BYTES): string {
    const text = checkText(this.operation, this.path(name), value)
    if (text.length >= least && utf8Length(text) <= most) return text
    throw this.invalid(name, `must have ${least} to ${most} bytes`)
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

  /** JSON, or a well-formed text. */
  body(name: string, value: unknown): void {
    if (typeof value === 'string' || value === undefined) checkText(this.operation, this.path(name), value)
  }

  ops(value: unknown): readonly SyncOp[] {
    let before: string | undefined
    return this.each('ops', value, PAGE_ROWS, (read) => {
      const op = opIn(read, before)
      before = op.envelope.round ?? before
      return op
    })
  }
}

/** An op. @param before round of the append before it */
function opIn(read: Reader, before: string | undefined): SyncOp {
  const fields = read.object('', read.value)
  const { op, id, ids, put, body, bodies, base, lane, sources, index, contexts, beside } = fields
  const kind = checkKind(read, fields)
  const own = put === undefined ? id : put
  const several = own === undefined ? read.list('ids', ids ?? [], PAGE_ROWS) : [own]
  if (put === undefined)
    for (const [place, one] of several.entries()) read.id(own === undefined ? `ids[${place}]` : 'id', one)
  if ((kind === 'append' && several.length === 0) || (kind === 'mark' && several.length !== 1))
    throw read.invalid('id', kind === 'mark' ? 'must be one' : 'is missing')
  if (op !== undefined) read.name('op', op)
  else if (put !== undefined || several.length !== 1) throw read.invalid('op', 'is missing')
  if (kind === 'append') read.id('round', fields.round === 0 ? before : (fields.round ?? several[0]))
  if (base != null) read.name('base', base)
  if (lane !== undefined) read.name('lane', lane)
  if (sources !== undefined) read.each('sources', sources, Infinity, (one) => one.named('', one.value))
  if (index !== undefined) read.each('index', index, Infinity, checkIndex)
  if (fields.attachments !== undefined)
    read.each('attachments', fields.attachments, Infinity, (one) => one.id('', one.value))
  if (contexts !== undefined) read.each('contexts', contexts, Infinity, checkContext)
  if (beside !== undefined) read.each('beside', beside, PAGE_ROWS, checkBeside)
  const isOne = own !== undefined || (several.length === 1 && bodies === undefined)
  const values = isOne ? [body] : read.list('bodies', bodies ?? [])
  if (values.length !== several.length) throw read.invalid('bodies', 'must be one for each id')
  for (const [place, one] of values.entries()) read.body(`bodies[${place}]`, one)
  return opFromWire(fields, before)
}

/** What an op is, by the field that only its kind has. */
function checkKind(read: Reader, { kind, mark, put, delete: target, erase }: Fields): string {
  if (put !== undefined) {
    read.name('put', put)
    return 'put'
  }
  if (target !== undefined) {
    read.named('delete', target)
    return 'delete'
  }
  if (erase === true) return 'erase'
  if (erase !== undefined) throw read.invalid('erase', 'must be true')
  const name = mark === undefined ? 'kind' : 'mark'
  const unknown = mark ?? kind
  if (unknown === undefined) return 'append'
  if (TAKEN.has(read.name(name, unknown))) throw read.invalid(name, `cannot be ${unknown}`)
  return name === 'mark' ? name : (unknown as string)
}

function checkIndex(read: Reader): void {
  const { group, order, weight } = read.object('', read.value)
  if (weight !== undefined && !Number.isSafeInteger(weight))
    throw read.invalid('weight', 'must be a whole number')
  read.name('group', group)
  if (order !== undefined) read.name('order', order, 0)
}

function checkContext(read: Reader): void {
  const [hash, seq] = read.list('', read.value, 2)
  read.name('', hash)
  read.count('', seq)
}

function checkBeside(read: Reader): void {
  const [key, body] = read.list('', read.value, 2)
  if (body === null) throw read.invalid('', 'must have a body')
  read.body('', body)
  read.name('', key)
}
