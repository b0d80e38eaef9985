import { describe, expect, it } from 'vitest'
import { fetchWorker } from './caller.ts'
import { described, document, nameOf, routed, UNDESCRIBED } from './routes.ts'

describe('the description of the API', () => {
  it('has every route, but those that are listed here with a reason', () => {
    const names = new Set([...described, ...UNDESCRIBED].map(nameOf))
    expect(new Set(routed.map(nameOf))).toEqual(names)
  })

  it('is served as it is', async () => {
    const response = await fetchWorker('/openapi.json')
    expect(response.status).toBe(200)
    const served = (await response.json()) as typeof document
    expect(served.openapi).toBe('3.1.0')
    expect(served.paths).toEqual(JSON.parse(JSON.stringify(document.paths)))
  })

  it('names no schema and no way to authenticate that it does not have', () => {
    const text = JSON.stringify(document)
    const schemas = Object.keys(document.components?.schemas ?? {})
    const named = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string)
    expect(named.length).toBeGreaterThan(10)
    for (const ref of named) expect(schemas.map((name) => `#/components/schemas/${name}`)).toContain(ref)
    const schemes = Object.keys(document.components?.securitySchemes ?? {})
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
      expect(statuses.filter((status) => status.startsWith('2')).length, name).toBeGreaterThan(0)
      expect(statuses, name).toEqual(expect.arrayContaining(['4XX', '5XX']))
      const isOpen = path.startsWith('/health') || path === '/v1/guests'
      expect((operation.security ?? []).length, name).toBe(isOpen ? 0 : 1)
    }
  })
})

interface Operation {
  readonly name: string
  readonly path: string
  readonly summary?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly responses?: Readonly<Record<string, unknown>>
}

function operations(): readonly Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Omit<Operation, 'name' | 'path'>>).map(([method, operation]) => ({
      ...operation,
      name: `${method} ${path}`,
      path,
    })),
  )
}
