/** The OpenAPI document as a page. */

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly {
    readonly name?: string
    readonly in?: string
    readonly description?: string
  }[]
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>
}

export interface Description {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const cell = (text = ''): string =>
  text.replaceAll('\n', ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{{', '{&#8203;{')

export function httpPage({ info, paths }: Description): string {
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      routeOf(`${method.toUpperCase()} ${path}`, operation),
    ),
  )
  return `# HTTP API

${cell(info.title)} ${info.version}, from its OpenAPI document, which the edge serves at \`/openapi.json\`.

${routes.join('\n')}`
}

function routeOf(
  title: string,
  { summary, description, parameters = [], responses = {} }: Operation,
): string {
  const named = parameters.filter(({ name }) => name !== undefined)
  const takes = named.map((one) => `| \`${one.name}\` | ${one.in} | ${cell(one.description)} |`)
  const answers = Object.entries(responses).map(([status, one]) => `| ${status} | ${cell(one.description)} |`)
  return [
    `## ${title.replaceAll('{', ':').replaceAll('}', '')}\n`,
    ...[summary, description].filter((text) => text !== undefined).map((text) => `${cell(text)}\n`),
    ...(takes.length > 0 ? [`| parameter | in | |\n|---|---|---|\n${takes.join('\n')}\n`] : []),
    `| status | |\n|---|---|\n${answers.join('\n')}\n`,
  ].join('\n')
}
