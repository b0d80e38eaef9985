/**
 * What the pages say of the edge, beside the code: nothing is named that is not there, and nothing
 * that is there goes unnamed.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PROBLEMS } from '../../src/edge/app/problem.ts'
import { createApp } from '../../src/edge/hono.ts'
import { type Context, createMemory, type Feature } from '../../src/index.ts'
import { blocksOf, moduleOf } from '../install/blocks.ts'
import { ADA, device, TestHome, TRIP } from '../unit/support/synced.ts'

const root = resolve(import.meta.dirname, '../..')
/** Expressions, styles, and a bundle, which have lines that begin like comments. */
const UNBREAKABLE = ['src/counters/pre-tokenizer.ts', 'src/chat/element/style.ts', 'test/oracle/frozen.d.mts']
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Cells of the rows of a page's tables whose first cell is code. */
function rowsOf(page: string): readonly (readonly string[])[] {
  return [...page.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(/ \| /))
}
const codeIn = (cell = ''): string => /^`([^`]+)`/.exec(cell)?.[1] ?? ''

describe('errors.md', () => {
  it('has every code with its status, once', () => {
    const said = rowsOf(read('docs/errors.md')).map(([code, status]) => [codeIn(code), Number(status)])
    const known = Object.entries(PROBLEMS).map(([code, { status }]) => [code, status])
    expect(said).toEqual(known)
  })
})

describe('deploy.md', () => {
  it('has every variable, secret and binding of the worker, and no other', () => {
    const sources = [
      'worker/env.ts',
      'src/edge/auth/from-env.ts',
      'src/edge/logs-from-env.ts',
      'src/edge/models/from-env.ts',
      'src/edge/objects/encryption.ts',
    ]
    const bound = read('src/edge/objects/bindings.ts')
    const known = [...sources.map(read), bound].flatMap((source) =>
      [...source.matchAll(/^ {2}readonly ([A-Z][A-Z_]+)\??:/gm)].map(([, name]) => name),
    )
    const said = rowsOf(read('docs/deploy.md')).map(([name]) => codeIn(name))
    expect(said.toSorted()).toEqual(known.toSorted())
  })
})

describe('edge.md', () => {
  const app = createApp(() => ({ objects: {} as never, authenticate: async () => undefined }))
  // What stands in front of routes has no method, or calls what is behind it; MCP answers all of
  // them.
  const routes = new Set(
    app.routes
      .filter(
        ({ path, method, handler }) => handler.length < 2 && (method !== 'ALL' || path.endsWith('/mcp')),
      )
      .map(({ method, path }) => `${method} ${path}`),
  )

  it('has every route of the app, and no other', () => {
    const said = rowsOf(read('docs/edge.md')).flatMap(([methods, path]) =>
      codeIn(methods)
        .split(' ')
        .map((method) => `${method} ${codeIn(path)}`),
    )
    expect(said.toSorted()).toEqual([...routes].toSorted())
  })

  it('has the routes of the OpenAPI document', async () => {
    const document = (await (await app.request('/openapi.json', {}, {})).json()) as {
      readonly paths: Readonly<Record<string, object>>
    }
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    // Of MCP it has the method that is answered.
    const answered = [...routes].map((route) => route.replace(/^ALL /, 'POST '))
    expect(described.toSorted()).toEqual(answered.toSorted())
  })
})

describe('peers.md', () => {
  const { peerDependencies, packages } = {
    ...(JSON.parse(read('package.json')) as { peerDependencies: Readonly<Record<string, string>> }),
    ...(JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, { version: string }>> }),
  }
  const installed = (peer: string): string | undefined => packages[`node_modules/${peer}`]?.version

  it('has every peer with the version that tests run with, and no other', () => {
    const said = rowsOf(read('docs/peers.md')).map(([peer, , , version]) => [codeIn(peer), version])
    expect(said).toEqual(Object.keys(peerDependencies).map((peer) => [peer, installed(peer)]))
  })

  it('agrees with what the pages of the subpaths say, each of which names its peers', () => {
    const named = new Set<string>()
    const pages = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'))
    for (const page of pages) {
      for (const [, peer = '', version] of read(`docs/${page}`).matchAll(/`([@/\w.-]+)`\s(\d+\.\d+\.\d+)/g)) {
        if (!Object.hasOwn(peerDependencies, peer)) continue
        named.add(peer)
        expect(`${page}: ${peer} ${version}`).toBe(`${page}: ${peer} ${installed(peer)}`)
      }
    }
    expect([...named].sort()).toEqual(Object.keys(peerDependencies))
  })
})

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  ),
]

describe('choosing.md', () => {
  it('names a test of ours for each thing that goes wrong', () => {
    const named = [...read('docs/choosing.md').matchAll(/`([\w/.-]+\.ts)`:\s+\*([^*]+)\*$/gm)]
    expect(named.length).toBeGreaterThan(20)
    for (const [, file = '', name = ''] of named)
      expect(read(`test/${file}`).replaceAll("\\'", "'")).toContain(
        name.replaceAll('\n', ' ').replace(/ +/g, ' '),
      )
  })
})

describe('guarantees.md', () => {
  const page = read('docs/guarantees.md').replace(/\n {2,3}/g, ' ')
  const named = [...page.matchAll(/`([\w/.-]+\.ts)`: \*([^*]+)\*/g)]

  it('names a test for each law, and each test is there by its whole name', () => {
    const laws = [...read('CONTRIBUTING.md').matchAll(/^\| (\d+) \S/gm)].map(([, law]) => law)
    expect([...page.matchAll(/^(\d+)\. /gm)].map(([, law]) => law)).toEqual(laws)
    const items = [...page.matchAll(/^(?:\d+\.|-) .*$/gm)]
    expect(named).toHaveLength(items.length)
    for (const [, file = '', name = ''] of named) {
      const code = read(`test/${file}`).replaceAll("\\'", "'")
      expect(
        [`'${name}'`, `\`${name}\``].some((title) => code.includes(title)),
        `${file}: ${name}`,
      ).toBe(true)
    }
  })
})

describe('every page', () => {
  it('is in the list of pages and in the sidebar of the site', () => {
    const names = readdirSync(join(root, 'docs')).flatMap((file) => /^(.*)\.md$/.exec(file)?.[1] ?? [])
    const [list, sidebar] = [read('docs/index.md'), read('site/.vitepress/config.ts')]
    const missing = names.filter((name) => !list.includes(`(${name}.md`) || !sidebar.includes(`'${name}'`))
    expect(missing).toEqual(['index'])
  })
})

describe('commands of the pages', () => {
  it('are scripts of the package', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }
    for (const page of pages)
      for (const [, name = ''] of read(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g))
        expect(scripts, `${page}: npm run ${name}`).toHaveProperty([name])
  })
})

describe('features.md', () => {
  /** A module of the page, over the sources. */
  async function imported<Module>(file: string): Promise<Module> {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-features-'))
    try {
      const library = join(root, 'src/index.ts').replaceAll('\\', '/')
      for (const block of blocksOf('docs/features.md', read('docs/features.md')))
        writeFileSync(
          join(folder, block.file),
          moduleOf(block).replaceAll(`from 'plimsoll'`, `from '${library}'`),
        )
      return await import(/* @vite-ignore */ pathToFileURL(join(folder, file)).href)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it('has features that show a line in the memory section, and a section in the receipt', async () => {
    const { blocks, receipt } = await imported<Context>('use.ts')
    const [memory] = blocks.flatMap(({ section, parts }) => (section === 'memory' ? parts : []))
    expect(memory).toMatchObject({
      text: expect.stringMatching(/The user's time zone: Europe\/Rome\n[\s\S]*- The dog comes along\./),
    })
    expect(receipt.remembered).toMatchObject([{ name: 'notes', cap: 50, items: 1 }])
  })

  it('has features that show what another device wrote in the place of what this one did', async () => {
    type Zone = { get(): Promise<string | undefined>; set(zone: string): Promise<void> }
    type Notes = { add(note: string): Promise<void> }
    const { timeZone } = await imported<{ timeZone(): Feature<'timeZone', { user: Zone }> }>('time-zone.ts')
    const { notes } = await imported<{ notes(): Feature<'notes', { api: Notes }> }>('notes.ts')
    const home = new TestHome()
    const [here, there] = ['Europe/Rome', 'Europe/Paris'].map((zone) => {
      const { store } = device(home)
      for (const scope of [ADA, TRIP]) store.follow(scope)
      store.pause()
      const memory = createMemory({ store, use: [timeZone(), notes()] })
      return { store, zone, user: memory.user(ADA), session: memory.session({ ...ADA, sessionId: 'trip' }) }
    })
    if (!here || !there) throw new Error('There are two')
    for (const { zone, user, session } of [there, here]) {
      await user.timeZone.set(zone)
      await session.notes.add(zone)
    }
    const shown = async () => JSON.stringify((await here.session.context({ preview: true })).blocks)
    expect(await shown()).toContain(`time zone: ${here.zone}`)
    for (const { store } of [there, here]) {
      store.resume()
      await store.settled()
    }
    expect(await here.user.timeZone.get()).toBe(there.zone)
    expect(await shown()).toContain(`time zone: ${there.zone}`)
    expect(await shown()).toContain(`- ${there.zone}`)
    expect(await shown()).not.toContain(here.zone)
  })
})

describe('comments', () => {
  it('are at most 100 columns wide, but for code and what cannot be broken', () => {
    const listed = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).trim()
    const wide: string[] = []
    for (const file of listed.split('\n').filter((name) => !UNBREAKABLE.includes(name))) {
      let isCode = false
      for (const [index, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
        if (!/^\s*(\*|\/\/|\/\*)/.test(line)) continue
        if (line.includes('```')) isCode = !isCode
        else if (!isCode && line.length > 100 && !line.includes('biome-ignore'))
          wide.push(`${file}:${index + 1}`)
      }
    }
    expect(wide).toEqual([])
  })
})

describe('what the pages look like', () => {
  it.each(pages)('%s writes thousands as 10,000, but for what programs print', (page) => {
    const prose = read(page).replaceAll(/^```.*?^```/gms, '')
    expect(prose.match(/(?<![\d.,:/\-#`\w])\d{1,3}[ \u00a0\u202f]\d{3}(?![\d\w:/,.-])/g) ?? []).toEqual([])
  })

  it.each(pages)('%s has no line of 160 characters or more, but for what programs print', (page) => {
    const long: number[] = []
    let isPrinted = false
    for (const [index, line] of read(page).split('\n').entries()) {
      if (line.trimStart().startsWith('```')) isPrinted = !isPrinted
      else if (!isPrinted && [...line].length >= 160) long.push(index + 1)
    }
    expect(long).toEqual([])
  })

  it.each(pages)(
    '%s has no block of code but those that `npm run test:docs` compiles or says why not',
    (page) => {
      expect(() => blocksOf(page, read(page))).not.toThrow()
    },
  )
})

describe('the pages about the sources', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map(
    (file) => `/${file.replaceAll('\\', '/')}`,
  )

  it.each(['ARCHITECTURE.md', 'docs/decisions.md', 'docs/features.md'])(
    '%s names files that are there',
    (page) => {
      const named = [...read(page).matchAll(/`(?:src)?\/?((?:[\w-]+\/)*[\w-]+\.ts)`/g)].map(
        ([, file]) => file,
      )
      const own = blocksOf(page, read(page)).map(({ file }) => file)
      const missing = named.filter(
        (file = '') => !own.includes(file) && !sources.some((source) => source.endsWith(`/${file}`)),
      )
      expect(missing).toEqual([])
    },
  )
})

describe('links between the pages', () => {
  const slug = (title: string): string =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  const headings = (page: string): readonly string[] =>
    [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slug(title))

  for (const page of pages)
    it(`lead somewhere from ${page}`, () => {
      const broken = [...read(page).matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].flatMap(([, link = '']) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        try {
          if (anchor !== undefined && !headings(target).includes(anchor)) return [link]
          if (anchor === undefined) read(target)
          return []
        } catch {
          return [link]
        }
      })
      expect(broken).toEqual([])
    })
})
