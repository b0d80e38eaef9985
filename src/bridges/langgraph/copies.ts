/** LangChain's messages by the names of their classes, of which a process may have several. */
const MESSAGES: ReadonlySet<unknown> = new Set([
  'AIMessage',
  'AIMessageChunk',
  'ChatMessage',
  'FunctionMessage',
  'HumanMessage',
  'SystemMessage',
  'ToolMessage',
])
const IS_MESSAGE = Symbol.for('langchain.message')

interface Fields {
  [key: string | number | symbol]: unknown
}

/**
 * A copy of plain data or of a message of LangChain, in which what was shared is shared; undefined
 * where anything in it is of another kind, or holds itself.
 */
export function copyOf<Value extends object>(value: Value): Value | undefined {
  const copy = copied(value, new Map())
  return copy === NONE ? undefined : (copy as Value)
}

const NONE = Symbol('none')

/** @param copies by what they are of; undefined while one is being made */
function copied(value: unknown, copies: Map<object, object | undefined>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return NONE
  if (!isObject(value)) return value
  if (copies.has(value)) return copies.get(value) ?? NONE
  const copy = emptyCopy(value)
  if (!copy) return NONE
  copies.set(value, undefined)
  // An array is gone through by its indices: as names of fields they would be texts.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const field = copied((value as Fields)[key], copies)
    if (field === NONE) return NONE
    copy[key] = field
  }
  copies.set(value, copy)
  return copy
}

function emptyCopy(value: object): Fields | undefined {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === Object.prototype) return {}
  if (prototype === Array.prototype) return new Array((value as unknown[]).length) as never
  if (!Object.hasOwn(value, IS_MESSAGE) || !MESSAGES.has(value.constructor.name)) return undefined
  const copy = Object.create(prototype) as Fields
  copy[IS_MESSAGE] = true
  return copy
}

/**
 * What a value holds, one after the other: how many fields an object has ({@link THERE}: it stands
 * before), and of each its name, what it is, and what it holds. Of values that {@link copyOf}
 * copies.
 */
export type Trace = readonly unknown[]

const THERE = -1

export function traceOf(value: object): Trace {
  const trace: unknown[] = []
  const seen = new Set<object>()
  const add = (one: object): void => {
    const place = trace.push(THERE) - 1
    if (seen.has(one)) return
    seen.add(one)
    const keys = Array.isArray(one) ? one.keys() : Object.keys(one)
    let fields = 0
    for (const key of keys) {
      const field = (one as Fields)[key]
      trace.push(key, field)
      if (isObject(field)) add(field)
      fields++
    }
    trace[place] = fields
  }
  add(value)
  return trace
}

/** Whether a value holds what it held when it was traced. */
export function isAsTraced(value: object, trace: Trace): boolean {
  return endOf(value, trace, 0) > 0
}

/** Where the trace of a value ends that begins at a place; 0: it holds something else. */
function endOf(value: object, trace: Trace, from: number): number {
  const fields = trace[from] as number
  let at = from + 1
  if (fields === THERE) return at
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  if ((keys ?? (value as readonly unknown[])).length !== fields) return 0
  for (let index = 0; index < fields; index++) {
    const key = trace[at] as string | number
    const field = (value as Fields)[key]
    if ((keys && keys[index] !== key) || !Object.is(trace[at + 1], field)) return 0
    at += 2
    if (!isObject(field)) continue
    at = endOf(field, trace, at)
    if (at === 0) return 0
  }
  return at
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
