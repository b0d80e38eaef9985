/** What may come next in a JSON text. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or ]' | ', or }' | 'end'

const SPACE = /[ \t\n\r]*/y
const TEXT = /"[^"\\\n\r\t]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\n\r\t]*)*"/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * The line, from 1, on which a text stops being JSON; engines name the place in their own ways, or
 * not at all. Of JSON, its last line.
 */
export function faultyLine(text: string): number {
  const open: ('[' | '{')[] = []
  let expected: Expected = 'value'
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const afterValue = (): Expected => {
    const around = open.at(-1)
    if (around === undefined) return 'end'
    return around === '[' ? ', or ]' : ', or }'
  }
  for (;;) {
    take(SPACE)
    const mark = text[at]
    const next = step(mark)
    if (next === undefined) return text.slice(0, at).split('\n').length
    expected = next
  }

  /** Takes what stands there; nothing where it may not stand there. */
  function step(mark: string | undefined): Expected | undefined {
    const closes = (mark === ']' && /\]/.test(expected)) || (mark === '}' && /\}/.test(expected))
    if (closes) {
      at++
      open.pop()
      return afterValue()
    }
    if (expected === ':') return mark === ':' ? skip('value') : undefined
    if (expected === ', or ]') return mark === ',' ? skip('value') : undefined
    if (expected === ', or }') return mark === ',' ? skip('key') : undefined
    if (expected === 'key' || expected === 'key or }') return take(TEXT) ? ':' : undefined
    if (expected === 'end') return undefined
    if (mark === '[' || mark === '{') {
      open.push(mark)
      return skip(mark === '[' ? 'value or ]' : 'key or }')
    }
    return take(TEXT) || take(SCALAR) ? afterValue() : undefined
  }

  function skip(next: Expected): Expected {
    at++
    return next
  }
}
