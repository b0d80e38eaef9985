/** What the pictures of measured figures share: a painted page, its words, and colours in order. */
import { element, escapeXml, pathData } from './chart.ts'

export const WIDTH = 880
const STYLE = `svg{color:#1f2328}.page{fill:#fff}
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:currentColor}
.title{font-size:16px;font-weight:600}.muted{color:#59636e}.end{text-anchor:end}.middle{text-anchor:middle}
path{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.grid{color:#e4e8ec;stroke-width:1}.s0{color:#0065bd}.s1{color:#59636e}.s2{color:#c24e00}.s3{color:#9c2682}
.s4{color:#006b4f}.s5{color:#7a5c00}.s6{color:#a3172b}.s7{color:#1f2328}.s0 path{stroke-width:3}rect{fill:currentColor}
@media(prefers-color-scheme:dark){svg{color:#f0f6fc}.page{fill:#0d1117}.muted{color:#a5adb6}.grid{color:#262c36}
.s0{color:#58a6ff}.s1{color:#a5adb6}.s2{color:#f0883e}.s3{color:#ffadda}.s4{color:#3ecf9b}.s5{color:#d4b106}.s6{color:#ff7b72}.s7{color:#f0f6fc}}`

export const words = (x: number, y: number, content: string, names = ''): string =>
  element('text', { x, y, ...(names !== '' && { class: names }) }, escapeXml(content))

export const line = (from: readonly [number, number], to: readonly [number, number], names: string): string =>
  element('path', {
    class: names,
    d: pathData([[from, to].map(([x, y]) => ({ x, y }))]),
  })

/** The class of a series' colour, by its place; ours, the first one, has its own. */
export const colour = (index: number): string => (index === 0 ? 's0' : `s${((index - 1) % 7) + 1}`)

export function framed(title: string, height: number, content: readonly string[]): string {
  const parts = [
    element('title', {}, escapeXml(title)),
    element('style', {}, STYLE),
    element('rect', { class: 'page', width: WIDTH, height }),
    words(20, 30, title, 'title'),
    ...content,
  ]
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img' }
  return `${element('svg', attributes, parts.join('\n'))}\n`
}
