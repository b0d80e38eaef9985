/**
 * The mutants of a module, all in one text: each place asks at run time which one is on, so a run
 * loads the sources once and goes from mutant to mutant.
 */
import { parseSync } from 'vite'

export interface Mutant {
  readonly id: number
  readonly file: string
  readonly line: number
  readonly start: number
  /** The line in which it stands, by which the list of equivalent ones finds it. */
  readonly code: string
  readonly original: string
  readonly replacement: string
  /** It is evaluated once, when its module is loaded. */
  readonly isStatic: boolean
}

export interface Instrumented {
  readonly text: string
  readonly mutants: readonly Mutant[]
}

/** A node of the tree, as far as it is needed here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Place {
  readonly parent: Node | undefined
  readonly key: string
  readonly inFunction: boolean
  /** Part of a chain with `?.`, to which the parent belongs too. */
  readonly spine: boolean
}

const BINARY: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
}
const ASSIGNMENT: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '||=': '&&=', '??=': '=' }
const METHODS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  find: 'findLast',
  findLast: 'find',
}
/** Methods that give back much the same as they are called on. */
const DROPPED = new Set(['filter', 'slice', 'toReversed', 'toSorted', 'sort', 'trim', 'concat'])
const COMPARISONS = new Set(['<', '<=', '>', '>=', '===', '!==', 'in', 'instanceof'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
/** Type-level wrappers around an expression; every other `TS…` node is of types only. */
const TRANSPARENT = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

/** @param first id of the first mutant */
export function instrument(file: string, source: string, first: number): Instrumented {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const lines = source.split('\n')
  const mutants: Mutant[] = []

  function add(node: Node, replacement: string, { inFunction }: Place): number {
    const line = source.slice(0, node.start).split('\n').length
    const id = first + mutants.length
    const original = source.slice(node.start, node.end)
    const code = (lines[line - 1] as string).trim()
    mutants.push({ id, file, line, start: node.start, code, original, replacement, isStatic: !inFunction })
    return id
  }

  /** The text of a node with what its children have become. */
  function inside(node: Node, place: Place): string {
    const inFunction =
      place.inFunction ||
      FUNCTIONS.has(node.type) ||
      (node.type === 'PropertyDefinition' && node.static !== true)
    let text = ''
    let at = node.start
    for (const [key, child] of childrenOf(node)) {
      // A shorthand property is one text for key and value.
      if (child.start < at) continue
      text +=
        source.slice(at, child.start) +
        print(child, { parent: node, key, inFunction, spine: isSpine(node, key, place.spine) })
      at = child.end
    }
    return text + source.slice(at, node.end)
  }

  function print(node: Node, place: Place): string {
    const { type } = node
    if (type.startsWith('TS') && !TRANSPARENT.has(type)) return source.slice(node.start, node.end)
    if (type === 'ImportDeclaration' || type === 'ExportAllDeclaration')
      return source.slice(node.start, node.end)
    if (type === 'BlockStatement') return block(node, place)
    if (type === 'ExpressionStatement') {
      const expression = node.expression as Node
      const isCall = /^(Await|Call|Chain)Expression$/.test(expression.type)
      const inner = inside(node, place).replace(/;$/, '')
      if (!isCall) return `void (${inner});`
      return `void (__is(${add(node, '', place)}) ? 0 : ${inner});`
    }
    const text = inside(node, place)
    const replacements = isValue(node, place) ? replacementsOf(node, place, source) : []
    if (replacements.length === 0) return text
    const choices = replacements.map((one) => `__is(${add(node, one, place)}) ? ${one} : `)
    return `(${choices.join('')}${text})`
  }

  function block(node: Node, place: Place): string {
    const text = inside(node, place)
    if ((node.body as readonly Node[]).length === 0) return text
    const isBody = place.key === 'body' && FUNCTIONS.has(place.parent?.type ?? '')
    const id = add(node, '{}', { ...place, inFunction: place.inFunction || isBody })
    if (isBody) return `{ if (__is(${id})) return; ${text.slice(1)}`
    return `{ if (!__is(${id})) ${text} }`
  }

  const text = inside(program as unknown as Node, {
    parent: undefined,
    key: '',
    inFunction: false,
    spine: false,
  })
  return { text: `const __is = globalThis.__mutation.is; ${text}`, mutants }
}

function replacementsOf(node: Node, place: Place, source: string): readonly string[] {
  const of = (part: unknown): string => source.slice((part as Node).start, (part as Node).end)
  const own = ownReplacements(node, of, source)
  const { parent, key } = place
  const all = [...own]
  if (key === 'test' && (parent?.type === 'IfStatement' || parent?.type === 'ConditionalExpression'))
    all.push('true', 'false')
  else if (key === 'test' && /^(For|While)/.test(parent?.type ?? '')) all.push('false')
  else if (parent?.type === 'LogicalExpression' && isCondition(node)) {
    if (parent.operator === '&&') all.push('true')
    if (parent.operator === '||') all.push('false')
  } else if (key === 'argument' && parent?.type === 'ReturnStatement') all.push('undefined')
  else if (key === 'body' && parent?.type === 'ArrowFunctionExpression') all.push('undefined')
  else if (key === 'argument' && parent?.type === 'SpreadElement') all.push(parent.inObject ? '{}' : '[]')
  return [...new Set(all)].filter((one) => one !== of(node))
}

function ownReplacements(node: Node, of: (part: unknown) => string, source: string): readonly string[] {
  const { type, operator } = node as Node & { readonly operator: string }
  switch (type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return (BINARY[operator] ?? []).map((other) => `(${of(node.left)}) ${other} (${of(node.right)})`)
    case 'UnaryExpression':
      return operator === '!' || operator === '-' ? [`(${of(node.argument)})`] : []
    case 'UpdateExpression': {
      const other = operator === '++' ? '--' : '++'
      return [node.prefix ? `${other}${of(node.argument)}` : `${of(node.argument)}${other}`]
    }
    case 'AssignmentExpression': {
      const other = ASSIGNMENT[operator]
      return other === undefined ? [] : [`${of(node.left)} ${other} ${of(node.right)}`]
    }
    case 'Literal':
      return literals(node.value)
    case 'TemplateLiteral':
      return ['``']
    case 'ArrayExpression':
      return (node.elements as readonly unknown[]).length > 0 ? ['[]'] : []
    case 'ObjectExpression':
      return (node.properties as readonly unknown[]).length > 0 ? ['({})'] : []
    case 'ChainExpression':
      return [...methods(node.expression as Node, of, source), ...unchained(node, source)]
    case 'CallExpression':
      return methods(node, of, source)
    default:
      return []
  }
}

function literals(value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [String(!value)]
  if (typeof value === 'number') return [`(${value + 1})`, `(${value - 1})`]
  if (typeof value === 'string') return [value === '' ? "'mutant'" : "''"]
  return []
}

function methods(node: Node, of: (part: unknown) => string, source: string): readonly string[] {
  const callee = node.callee as Node | undefined
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression' || callee.computed) return []
  const property = callee.property as Node & { readonly name: string }
  const other = METHODS[property.name]
  if (other !== undefined)
    return [source.slice(node.start, property.start) + other + source.slice(property.end, node.end)]
  return DROPPED.has(property.name) ? [`(${of(callee.object)})`] : []
}

/** The chain without one of its question marks. */
function unchained(chain: Node, source: string): readonly string[] {
  const found: string[] = []
  for (let node = chain.expression as Node | undefined; node; ) {
    const before = (node.object ?? node.callee ?? node.expression) as Node | undefined
    if (node.optional && before) {
      const at = source.indexOf('?.', before.end)
      const isCall = node.type === 'CallExpression'
      const isComputed = node.computed === true
      const dot = isCall || isComputed ? '' : '.'
      found.push(source.slice(chain.start, at) + dot + source.slice(at + 2, chain.end))
    }
    node = before
  }
  return found
}

function isCondition(node: Node): boolean {
  if (node.type === 'UnaryExpression') return node.operator === '!'
  return node.type === 'BinaryExpression' && COMPARISONS.has(node.operator as string)
}

/** Whether another expression may stand in its place. */
function isValue({ type }: Node, { parent, key, spine }: Place): boolean {
  if (!parent || FUNCTIONS.has(type)) return false
  if (/(Pattern|Statement|Declaration|Specifier|Definition|Body|Element)$/.test(type)) return false
  if (/^(Property|VariableDeclarator|SwitchCase|CatchClause|PrivateIdentifier|Super)$/.test(type))
    return false
  // A call keeps its `this`, and a chain stays whole.
  if (key === 'callee' || spine || parent.type === 'TaggedTemplateExpression') return false
  if (key === 'left' && /^(Assignment|For)/.test(parent.type)) return false
  if (
    parent.type === 'UpdateExpression' ||
    (parent.type === 'UnaryExpression' && parent.operator === 'delete')
  )
    return false
  if (/^(Property|PropertyDefinition|MethodDefinition|MemberExpression)$/.test(parent.type))
    return parent.computed === true || (key !== 'key' && key !== 'property')
  return !/^(Import|Export)/.test(parent.type)
}

/**
 * Whether the node is of the chain of which `parent` is too: what stands before a `?.`, or after
 * it.
 */
function isSpine(parent: Node, key: string, spine: boolean): boolean {
  if (parent.type === 'ChainExpression') return true
  return spine && (key === 'object' || key === 'callee' || key === 'expression')
}

/** Nodes in a node, in the order of the text. */
function childrenOf(node: Node): readonly (readonly [string, Node])[] {
  const inObject = node.type === 'ObjectExpression'
  return Object.entries(node)
    .flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((one) => [key, one] as const))
    .filter((pair): pair is readonly [string, Node] => isNode(pair[1]))
    .map(
      ([key, child]) =>
        [key, inObject && child.type === 'SpreadElement' ? { ...child, inObject } : child] as const,
    )
    .sort(([, one], [, other]) => one.start - other.start || other.end - one.end)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
