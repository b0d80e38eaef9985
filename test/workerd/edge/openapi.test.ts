import { describe, expect, it } from 'vitest'
import { fetchWorker } from './caller.ts'
import { described, document, nameOf, routed } from './routes.ts'

describe('the description of the API', () => {
  it('has every route', () => {
    expect(new Set(routed.map(nameOf))).toEqual(new Set(described.map(nameOf)))
  })

  it('names each operation, each once, as a function of a client is called', () => {
    const ids = operations().map(({ operationId }) => operationId)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id ?? ''))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has no object of which it says nothing, and no value without a name', () => {
    const open: string[] = []
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return
      const schema = value as Record<string, unknown>
      if (schema.type === 'object' && !schema.properties && typeof schema.additionalProperties !== 'object')
        open.push(path)
      if (schema.additionalProperties === true) open.push(path)
      for (const [key, item] of Object.entries(schema)) {
        const isSchema = key === 'schema' || key === 'items' || key === 'additionalProperties'
        if (isSchema && typeof item === 'object' && Object.keys(item as object).length === 0)
          open.push(`${path}.${key}`)
        visit(item, `${path}.${key}`)
      }
    }
    const { Json: _, ...schemas } = document.components.schemas
    visit({ ...document, components: { schemas } }, '')
    expect(open).toEqual([])
    expect(JSON.stringify(document)).toContain('"$ref":"#/components/schemas/Json"')
  })

  it('says which headers a request and an answer may have', () => {
    const named = ({ parameters = [] }: Operation) =>
      parameters.filter((one) => one.in === 'header').map(({ name }) => name)
    const answered = ({ responses = {} }: Operation, status: string) =>
      Object.keys((responses[status] as { headers?: object } | undefined)?.headers ?? {})
    for (const operation of operations()) {
      const { name, path, responses = {} } = operation
      const isRead = name.startsWith('get ')
      const isVersioned = /(checkpoint|commit|profile\/\{name\}|skills\/\{name\}|start)$/.test(path)
      expect([name, named(operation).includes('If-None-Match')]).toEqual([name, isVersioned])
      expect([name, named(operation).includes('If-Match')]).toEqual([name, isVersioned && !isRead])
      if (isRead) expect([name, named(operation).includes('Idempotency-Key')]).toEqual([name, false])
      expect([name, '304' in responses]).toEqual([name, isVersioned && isRead])
      if (isVersioned && '200' in responses) expect(answered(operation, '200')).toContain('ETag')
      expect(answered(operation, '4XX')).toEqual(
        expect.arrayContaining(['X-Request-Id', 'Retry-After', 'RateLimit', 'Allow']),
      )
    }
    const of = (id: string) => operations().find(({ operationId }) => operationId === id) as Operation
    const keyed = operations().filter((operation) => named(operation).includes('Idempotency-Key'))
    expect(keyed.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining([
        'appendMessages',
        'setDocument',
        'deleteSkill',
        'updateFact',
        'chat',
        'chatCompletion',
      ]),
    )
    expect(answered(of('createSession'), '201')).toContain('Location')
    expect(Object.keys(of('createSession').responses ?? {})).toContain('200')
    expect(Object.keys(of('eraseMe').responses ?? {})).toContain('202')
    expect(Object.keys(of('resumeChat').responses ?? {})).toContain('204')
    expect(Object.keys(of('live').responses ?? {})).toContain('101')
    expect(answered(of('chat'), '200')).toContain('Plimsoll-Run')
  })

  it('is served as it is', async () => {
    const response = await fetchWorker('/openapi.json')
    expect(response.status).toBe(200)
    const served = (await response.json()) as typeof document
    expect(served.openapi).toBe('3.1.0')
    expect(served.paths).toEqual(document.paths)
    expect(served.components).toEqual(document.components)
  })

  it('names no schema and no way to authenticate that it does not have', () => {
    const text = JSON.stringify(document)
    const schemas = Object.keys(document.components.schemas)
    const named = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string)
    expect(named.length).toBeGreaterThan(10)
    for (const ref of named) expect(schemas.map((name) => `#/components/schemas/${name}`)).toContain(ref)
    const schemes = Object.keys(document.components.securitySchemes ?? {})
    for (const operation of operations())
      for (const requirement of operation.security ?? [])
        for (const scheme of Object.keys(requirement)) expect(schemes).toContain(scheme)
  })

  it('says what each operation takes and answers', () => {
    for (const { name, path, ...operation } of operations()) {
      expect(operation.summary, name).toBeTruthy()
      const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path')
      expect(
        inPath.map((one) => `{${one.name}}`),
        name,
      ).toEqual(path.match(/\{\w+\}/g) ?? [])
      expect(
        inPath.every(({ required }) => required),
        name,
      ).toBe(true)
      const statuses = Object.keys(operation.responses ?? {})
      expect(statuses.filter((status) => /^[12]/.test(status)).length, name).toBeGreaterThan(0)
      expect(statuses, name).toEqual(expect.arrayContaining(['4XX', '5XX']))
      const isOpen = path.startsWith('/health') || ['/v1/guests', '/openapi.json', '/docs'].includes(path)
      expect((operation.security ?? []).length, name).toBe(isOpen ? 0 : 1)
    }
  })
})

interface Operation {
  readonly name: string
  readonly path: string
  readonly operationId?: string
  readonly summary?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly responses?: Readonly<Record<string, unknown>>
}

function operations(): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Omit<Operation, 'name' | 'path'>>).map(([method, operation]) => ({
      ...operation,
      name: `${method} ${path}`,
      path,
    })),
  )
}
