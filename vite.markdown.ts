import type { Plugin } from 'vite'

/** What there must be in the parser of Markdown as it is published, and what stands there then. */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  // The widget makes nodes of the parser's tokens: nothing of it makes HTML.
  [/var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse.*?(?=export\{)/s, ''],
  [
    /export\{.*?(\w+) as Lexer,.*?(\w+) as Tokenizer,.*?(\w+) as getDefaults,.*?\}/s,
    'export{$1 as Lexer,$2 as Tokenizer,$3 as getDefaults}',
  ],
  // Of its dialects, the one that the widget asks for.
  [/\{normal:\w+,gfm:(\w+),pedantic:\w+\}/, '{gfm:$1}'],
  [/\{normal:\w+,gfm:\w+,breaks:(\w+),pedantic:\w+\}/, '{breaks:$1}'],
  [/block:(\w+)\.normal,inline:(\w+)\.normal/, 'block:$1.gfm,inline:$2.breaks'],
  [/this\.options\.pedantic/g, 'false'],
  [/this\.options\.(?:gfm|breaks)/g, 'true'],
  // Patterns that none needs are then left out.
  [/(?<=[=:(])(?=g\()/g, '/*@__PURE__*/'],
  // Those with classes of Unicode take long to make, and many texts need none.
  [/getRegex:\(\)=>new RegExp\((\w+),(\w+)\)/, 'getRegex:()=>$2==="gu"?lazyPattern($1,$2):new RegExp($1,$2)'],
  [
    /$/,
    `
function lazyPattern(source, flags) {
  let made
  const pattern = () => made ??= new RegExp(source, flags)
  return {
    source,
    get lastIndex() { return pattern().lastIndex },
    set lastIndex(at) { pattern().lastIndex = at },
    exec: (text) => pattern().exec(text),
    [Symbol.replace]: (text, by) => text.replace(pattern(), by),
  }
}
`,
  ],
]

/**
 * Leaves out what the widget has no use for in the parser of Markdown, which is made in one piece,
 * and makes its slowest patterns when a text first needs them.
 */
export const leanMarkdown: Plugin = {
  name: 'lean-markdown',
  transform(code, id) {
    if (!/\/marked\/lib\/marked\.esm\.js$/.test(id)) return null
    let lean = code
    for (const [there, then] of CHANGES) {
      if (lean.search(there) < 0) this.error(`marked is another one: it has no ${there}`)
      lean = lean.replace(there, then)
    }
    return { code: lean, map: null }
  },
}
