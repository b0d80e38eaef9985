/** The part of docs/benchmarks.md that `npm run bench -- all` writes; the rest is by hand. */

export interface Suite {
  readonly name: string
  readonly about: string
  readonly seconds: number
  /** What it measured, in words. */
  readonly text?: string
  /** Files beside the page, with what each shows. */
  readonly plots?: readonly { readonly file: string; readonly title: string }[]
  /** Why there is no text. */
  readonly missing?: string
}

export interface Run {
  readonly date: string
  readonly isQuick: boolean
  /** Processes that wanted a core when it began, and the cores. */
  readonly load: number
  readonly cores: number
  readonly suites: readonly Suite[]
}

const BEGIN = '<!-- measured: written by `npm run bench -- all` -->'
const END = '<!-- /measured -->'

/** The page with the run in place of the one before. @throws Error: it has no place for it */
export function withRun(page: string, run: Run): string {
  const [before, rest] = page.split(BEGIN)
  const [, after] = rest?.split(END) ?? []
  if (before === undefined || after === undefined) throw new Error(`The page has no ${BEGIN} and ${END}`)
  return `${before}${BEGIN}\n\n${sectionOf(run)}\n${END}${after}`
}

function sectionOf({ date, isQuick, load, cores, suites }: Run): string {
  const command = `npm run bench -- all${isQuick ? ' --quick' : ''}`
  const minutes = suites.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  const busy =
    load > cores / 2
      ? ` The machine was busy (${load.toFixed(1)} processes for ${cores} cores as it began): read counts and sizes, not times.`
      : ''
  return [
    `## One run of all\n\n\`${command}\`, ${date}, ${minutes.toFixed(1)} minutes.${busy}\n`,
    ...suites.map(suiteSection),
  ].join('\n')
}

function suiteSection({ name, about, seconds, text, plots = [], missing }: Suite): string {
  const heading = `### Run: ${name}\n\n${about[0]?.toUpperCase()}${about.slice(1)}. ${Math.round(seconds)} s.\n`
  if (text === undefined) return `${heading}\nNot measured: ${missing}.\n`
  const pictures = plots.map(({ file, title }) => `![${title}](${file})\n`)
  return [heading, ...pictures, `\`\`\`text\n${text.trim()}\n\`\`\`\n`].join('\n')
}
