import {
  BaseStore,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { lexicalRecall } from '../../features/recall/lexical-recall.ts'
import { searchWords } from '../../features/recall/search-words.ts'
import { PATIENCE_MS, pause, readRegister } from '../../features/register.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { allOrNone, changedByOthers } from '../../kernel/log/once.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { webHost } from '../../platform/web.ts'
import { aborted } from '../../ports/aborted.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { AbortSignalLike } from '../../ports/host.ts'
import type { Json, JsonObject } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import { PAGE_ROWS, type ScopeStore, type Store } from '../../ports/store.ts'
import { checkFields, optional } from '../../text/fields.ts'
import { checkCount, checkId, checkOptions, checkText, invalid } from '../../text/json.ts'
import { labelsOf, pathOf } from './paths.ts'
import { textsAt } from './texts-at.ts'

export interface PlimsollStoreOptions {
  /** Where items are kept: any store of this library, for example `sqliteStore({ path })`. */
  readonly store: Store
  /** Whose items these are. */
  readonly userId: string
  readonly tenant?: string
  /**
   * Paths of the texts that a query looks in, where `put` names none: `title`,
   * `chapters[*].content`. Default: all texts of an item.
   */
  readonly fields?: readonly string[]
  /** Brings forms of a word together, for example `englishStemmer` of `plimsoll/stemmer`. */
  readonly stemmer?: Stemmer
  /** Unix milliseconds. Default `Date.now`. */
  readonly clock?: () => number
}

/** An item, as its register holds it. */
interface StoredItem {
  readonly value: JsonObject
  readonly createdAt: number
  readonly updatedAt: number
  /** What `put` said of its fields. */
  readonly index?: false | readonly string[]
}

/** The session that holds them; no thread's is called so. */
const SESSION = 'langgraph'
const ITEM = 'item/'
/** How long a put may take, in milliseconds: those after it wait for it. */
const PUT_MS = 30_000
const OPTIONS = ['store', 'userId', 'tenant', 'fields', 'stemmer', 'clock']

/** How a filter's operators compare, as LangGraph's own store does. */
const COMPARE: { readonly [operator: string]: (value: unknown, other: never) => boolean } = {
  $eq: (value, other) => value === other,
  $ne: (value, other) => value !== other,
  $gt: (value, other) => Number(value) > Number(other),
  $gte: (value, other) => Number(value) >= Number(other),
  $lt: (value, other) => Number(value) < Number(other),
  $lte: (value, other) => Number(value) <= Number(other),
  $in: (value, other) => valuesOf(other).includes(value),
  $nin: (value, other) => !valuesOf(other).includes(value),
}

/**
 * LangGraph's long-term store over a store of this library: items under namespaces, and search by
 * words, with the ranking of `recall()`, where a query is given. A query finds what shares a word
 * with it, the best first, with scores of that search alone; `fields`, and `index` of `put`, say
 * where it looks.
 *
 * The puts of one `batch` are written in one commit, after its reads; the last one of an item
 * wins, also where several are made at once. One that the store does not end in 30 seconds is
 * `ERR_TIMEOUT`, may be written or not, and holds up those after it no longer. Reads go through
 * all items of a user: it is made for thousands, not for millions.
 */
export class PlimsollStore extends BaseStore {
  readonly #scope: ScopeStore
  readonly #fields: readonly string[]
  readonly #stemmer: Stemmer | undefined
  readonly #clock: () => number
  #last: Promise<unknown> = Promise.resolve()

  /** @throws ERR_INVALID_ARGUMENT */
  constructor(options: PlimsollStoreOptions) {
    checkOptions('PlimsollStore', 'options', options, OPTIONS)
    super()
    const { store, fields = ['$'], stemmer, clock = webHost.now, ...owner } = options
    if (typeof store?.open !== 'function')
      throw invalid('PlimsollStore', 'store', 'must be a store, for example mapStore()')
    if (!isTexts(fields)) throw invalid('PlimsollStore', 'fields', 'must be a list of paths')
    if (stemmer !== undefined && typeof stemmer?.stem !== 'function')
      throw invalid('PlimsollStore', 'stemmer', 'must be a stemmer')
    if (typeof clock !== 'function') throw invalid('PlimsollStore', 'clock', 'must be a function')
    const scope = checkFields<{ userId: string; tenant?: string }>('PlimsollStore', '', owner, {
      userId: checkId,
      tenant: optional(checkId),
    })
    this.#scope = store.open({ ...scope, sessionId: SESSION })
    this.#fields = fields
    this.#stemmer = stemmer
    this.#clock = clock
  }

  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = []
    const puts = new Map<string, PutOperation>()
    for (const operation of operations as readonly Operation[]) {
      if ('namespacePrefix' in operation) results.push(await this.#search(operation))
      else if (!('key' in operation)) results.push(await this.#namespaces(operation))
      else {
        const { namespace, key } = operation
        for (const label of checkLabels('batch', 'namespace', namespace)) checkId('batch', 'namespace', label)
        const name = nameOf(namespace, checkText('batch', 'key', key))
        if ('value' in operation) puts.set(name, operation)
        results.push('value' in operation ? undefined : await this.#item(name))
      }
    }
    if (puts.size > 0) {
      const written = this.#last.then(() => this.#within(puts))
      this.#last = written.catch(() => {})
      await written
    }
    return results as OperationResults<Op>
  }

  async #item(name: string): Promise<Item | null> {
    const { value } = await readRegister<StoredItem>(this.#scope, name)
    return value ? itemOf(name, value) : null
  }

  async #within(puts: ReadonlyMap<string, PutOperation>): Promise<void> {
    const { signal, clear } = webHost.timeout(PUT_MS)
    try {
      await Promise.race([this.#put(puts, signal), aborted(signal)])
    } catch (error) {
      if (!signal.aborted) throw error
      const names = [...puts.keys()].join(', ')
      const reason = `${names} may be written or not: the store did not end within ${PUT_MS} ms`
      throw new PlimsollError('ERR_TIMEOUT', `batch: ${reason}`, { limit: PUT_MS })
    } finally {
      clear()
    }
  }

  /** @param over ends it: what others wrote since is not written over */
  async #put(puts: ReadonlyMap<string, PutOperation>, over: AbortSignalLike): Promise<void> {
    let waited = 0
    for (let attempt = 0; waited < PATIENCE_MS; attempt++) {
      if (attempt > 0) waited += await pause(webHost, attempt)
      const now = this.#clock()
      const ops: Op[] = []
      for (const [key, { value, index }] of puts) {
        const { value: before, base } = await readRegister<StoredItem>(this.#scope, key)
        if (value === null && !before) continue
        const item = value && {
          value,
          createdAt: before?.createdAt ?? now,
          updatedAt: now,
          ...(index !== undefined && { index }),
        }
        ops.push({ kind: 'put', opId: webHost.newId(), key, base, value: item as Json })
      }
      if (over.aborted) return
      const results = await this.#scope.commit(
        ops.map((op) => sealOp(op)),
        allOrNone,
      )
      if (results.every(({ status }) => status === 'accepted')) return
    }
    throw changedByOthers('batch', [...puts.keys()].join(', '))
  }

  async #search({
    namespacePrefix,
    filter = {},
    limit = 10,
    offset = 0,
    query,
  }: SearchOperation): Promise<SearchItem[]> {
    checkLabels('search', 'namespacePrefix', namespacePrefix)
    checkCount('search', 'limit', limit)
    checkCount('search', 'offset', offset)
    if (query !== undefined) checkText('search', 'query', query)
    const wanted = Object.entries(filter)
    const found: { readonly item: Item; readonly stored: StoredItem }[] = []
    const most = query ? Number.POSITIVE_INFINITY : offset + limit
    for await (const one of this.#under(namespacePrefix)) {
      if (found.length >= most) break
      if (wanted.every(([key, condition]) => isMet(one.stored.value[key], condition))) found.push(one)
    }
    if (!query) return found.slice(offset).map(({ item }) => item)
    const texts = found.flatMap(({ stored }, at) => {
      const { index = this.#fields, value, createdAt } = stored
      if (index === false) return []
      const text = index.flatMap((path) => textsAt(value, path)).join('\n')
      return { id: String(at), text, createdAt, sources: [] }
    })
    const recall = lexicalRecall(this.#stemmer && { stemmer: this.#stemmer })
    return searchWords(recall, [], texts, query, offset + limit)
      .slice(offset)
      .flatMap(({ id, score }) => {
        const one = found[Number(id)]
        return one ? { ...one.item, score } : []
      })
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit = 100, offset = 0 } = operation
    checkCount('listNamespaces', 'limit', limit)
    checkCount('listNamespaces', 'offset', offset)
    if (maxDepth !== undefined) checkCount('listNamespaces', 'maxDepth', maxDepth, 1)
    for (const { path } of matchConditions) checkLabels('listNamespaces', 'path', path)
    const paths = new Set<string>()
    for await (const { item } of this.#under([]))
      if (matchConditions.every((condition) => isMatch(item.namespace, condition)))
        paths.add(pathOf(item.namespace.slice(0, maxDepth)))
    return [...paths]
      .sort()
      .slice(offset, offset + limit)
      .map(labelsOf)
  }

  /** The items of a namespace and of those below it, by their names. */
  async *#under(
    prefix: readonly string[],
  ): AsyncGenerator<{ readonly item: Item; readonly stored: StoredItem }> {
    const path = ITEM + prefix.map((label) => `${pathOf([label])}/`).join('')
    for (let after: string | undefined; ; ) {
      const rows = await this.#scope.registers(path, after)
      for (const row of rows) {
        const stored = valueIn(row) as StoredItem | null | undefined
        if (stored) yield { item: itemOf(row.key, stored), stored }
      }
      after = rows.at(-1)?.key
      if (rows.length < PAGE_ROWS) return
    }
  }
}

/** @throws ERR_INVALID_ARGUMENT: it is no list of texts */
function checkLabels(operation: string, argument: string, labels: unknown): readonly string[] {
  if (!isTexts(labels)) throw invalid(operation, argument, 'must be a list of labels')
  return labels
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** @throws ERR_INVALID_ARGUMENT */
function valuesOf(list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) throw invalid('search', 'filter', 'must have a list for $in and $nin')
  return list
}

/** A namespace ends with a `/` of its own, so that one begins another only at a label's border. */
function nameOf(namespace: readonly string[], key: string): string {
  return `${ITEM}${pathOf(namespace)}//${pathOf([key])}`
}

function itemOf(name: string, { value, createdAt, updatedAt }: StoredItem): Item {
  const [namespace = '', key = ''] = name.slice(ITEM.length).split('//')
  return {
    namespace: labelsOf(namespace),
    key: labelsOf(key)[0] ?? '',
    value,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  }
}

/** @throws ERR_INVALID_ARGUMENT: an operator that there is none of */
function isMet(value: unknown, condition: unknown): boolean {
  if (typeof condition !== 'object' || condition === null) return value === condition
  const operators = Object.entries(condition).filter(([name]) => name.startsWith('$'))
  if (operators.length === 0) return JSON.stringify(value) === JSON.stringify(condition)
  return operators.every(([name, other]) => {
    const compare = COMPARE[name]
    if (!compare)
      throw invalid(
        'search',
        'filter',
        `has no operator ${name}; there are ${Object.keys(COMPARE).join(', ')}`,
      )
    return compare(value, other as never)
  })
}

function isMatch(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const from = matchType === 'prefix' ? 0 : namespace.length - path.length
  return (
    from >= 0 &&
    path.every((label, at) => (label === '*' ? at + from < namespace.length : label === namespace[at + from]))
  )
}
