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
 * What a value holds that {@link copyOf} copies, so that all copies of it have the same: of each
 * object its kind, how many fields it has, and of each its name and what it holds.
 */
export type Trace = readonly unknown[]

export function traceOf(value: unknown): Trace {
  const trace: unknown[] = []
  const add = (one: unknown): void => {
    if (!isObject(one)) return void trace.push(one)
    if (Array.isArray(one)) {
      trace.push(Array.prototype, one.length)
      for (const item of one) add(item)
      return
    }
    const names = Object.keys(one)
    trace.push(Object.getPrototypeOf(one), names.length)
    for (const name of names) {
      trace.push(name)
      add((one as Fields)[name])
    }
  }
  add(value)
  return trace
}

/** Whether a value holds what was traced, in the same order. */
export function isAsTraced(value: unknown, trace: Trace): boolean {
  return endOf(value, trace, 0) > 0
}

/** Where the trace of a value ends that begins at a place; 0: it holds something else. */
function endOf(value: unknown, trace: Trace, from: number): number {
  if (!isObject(value)) return Object.is(value, trace[from]) ? from + 1 : 0
  if (Object.getPrototypeOf(value) !== trace[from]) return 0
  let fields = trace[from + 1] as number
  let at = from + 2
  if (Array.isArray(value)) {
    if (value.length !== fields) return 0
    for (let index = 0; index < fields; index++) {
      at = endOf(value[index], trace, at)
      if (at === 0) return 0
    }
    return at
  }
  // Lists no names: this is done for each field of a thread at each checkpoint.
  for (const key in value) {
    if (fields-- === 0 || key !== trace[at]) return 0
    at = endOf((value as Fields)[key], trace, at + 1)
    if (at === 0) return 0
  }
  return fields === 0 ? at : 0
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
