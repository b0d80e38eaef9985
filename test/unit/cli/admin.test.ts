import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { plimsoll } from '../support/command.ts'

const SECRET = 'a-secret-of-the-operator-of-the-tests'
const URL = 'https://memory.example.com'

interface Asked {
  readonly url: string
  readonly method: string | undefined
  readonly secret: string | undefined
}

/** The command at an edge that gives these answers, and what it was asked. */
async function admin(argv: readonly string[], ...answers: readonly Response[]) {
  const asked: Asked[] = []
  const left = [...answers]
  const own = {
    env: { OPERATOR_SECRET: SECRET },
    fetch: async (url: string, { method, headers }: RequestInit) => {
      asked.push({ url, method, secret: (headers as Record<string, string>).Authorization })
      return left.shift() ?? Promise.reject(new Error('nobody answers'))
    },
  }
  return { ...(await plimsoll(['admin', ...argv], {}, undefined, own)), asked }
}

const lines = (...texts: readonly string[]): Response => new Response(texts.join('\n'))

describe('plimsoll admin', () => {
  it('finds a user of a tenant, by the secret as a bearer token', async () => {
    const argv = ['find', 'ada b', '--tenant', 'a&b', '--url', `${URL}/`]
    const { status, out, asked } = await admin(argv, Response.json({ is_empty: true }))
    expect([status, out]).toEqual([0, '{"is_empty":true}\n'])
    const url = `${URL}/v1/operator/users/ada%20b?tenant=a%26b`
    expect(asked).toEqual([{ url, method: 'GET', secret: `Bearer ${SECRET}` }])
  })

  it('exports all lines, and says where the last one is missing', async () => {
    const argv = ['export', 'ada', '--url', URL]
    const whole = await admin(argv, lines('{"type":"export"}', '{"type":"end"}', ''))
    expect([whole.status, whole.out]).toEqual([0, '{"type":"export"}\n{"type":"end"}\n'])
    expect(whole.asked[0]?.url).toBe(`${URL}/v1/operator/users/ada/export`)
    for (const cut of [['{"type":"export"}', ''], ['{"type":"export"}', '{"type":"end"'], ['']]) {
      const { status, err } = await admin(argv, lines(...cut))
      expect([status, err]).toEqual([1, expect.stringContaining('not whole')])
    }
  })

  it('erases until nothing is left, and prints the certificate', async () => {
    const some = Response.json({ left: { sessions: 44 } }, { status: 202 })
    const argv = ['erase', 'ada', '--url', URL, '--yes']
    const { status, out, err, asked } = await admin(argv, some, Response.json({ action: 'erase' }))
    expect([status, out, err]).toEqual([0, '{"action":"erase"}\n', 'plimsoll: 44 sessions are left\n'])
    expect(asked.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  })

  it('says what the edge refuses, and that it is not there', async () => {
    const problem = { code: 'ERR_UNAUTHENTICATED', detail: 'the request: no token' }
    const refused = await admin(['find', 'ada', '--url', URL], Response.json(problem, { status: 401 }))
    expect([refused.status, refused.err]).toEqual([
      1,
      'plimsoll: admin find: 401 ERR_UNAUTHENTICATED: the request: no token\n',
    ])
    const nobody = await admin(['find', 'ada', '--url', URL])
    expect([nobody.status, nobody.err]).toEqual([1, expect.stringContaining('cannot be reached')])
  })

  it.each([
    ['find', 200, '<!doctype html>'],
    ['find', 200, '{"action":"erase"}'],
    ['erase', 200, '<!doctype html>'],
    ['erase', 200, '{"is_empty":true}'],
    ['erase', 200, 'null'],
    ['erase', 202, '<!doctype html>'],
    ['erase', 204, null],
  ])('takes no page for the answer of an edge: %s, %d, %s', async (action, status, body) => {
    const argv = [action, 'ada', '--url', URL, ...(action === 'erase' ? ['--yes'] : [])]
    const answered = await admin(argv, new Response(body, { status }))
    expect([answered.status, answered.out, answered.err]).toEqual([
      1,
      '',
      `plimsoll: admin ${action}: what answered is no edge\n`,
    ])
  })

  it.each([
    [['find', 'ada'], 'name the url with --url'],
    [['find', 'ada', '--url', 'memory'], 'no address'],
    [['find', 'ada', '--url', 'http://memory.example.com'], 'must be https'],
    [['find', 'ada', '--url', 'http://localhost.example.com'], 'must be https'],
    [['find', '--url', URL], 'name one user'],
    [['find', 'ada', 'bob', '--url', URL], 'name one user'],
    [['remove', 'ada', '--url', URL], 'say find, export, erase'],
    [['erase', 'ada', '--url', URL], 'say --yes'],
    [['find', 'ada', '--url', URL, '--yes'], '--yes is for erase'],
    [['find', 'ada', '--url', URL, '--to', 'x'], '--to is for export'],
    [['find', 'ada', '--url', URL, '--secret', 'x'], "Unknown option '--secret'"],
  ])('asks nobody for %j', async (argv, reason) => {
    const { status, err, asked } = await admin(argv)
    expect([status, err, asked]).toEqual([2, expect.stringContaining(reason), []])
  })

  it.each([303, 307])(
    'follows no redirect (%d): another than the edge would say what is erased',
    async (status) => {
      const paths: (string | undefined)[] = []
      const server = createServer(({ url }, response) => {
        paths.push(url)
        if (url === '/elsewhere') response.end('{"action":"erase"}')
        else response.writeHead(status, { Location: '/elsewhere' }).end()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const argv = ['admin', 'erase', 'ada', '--url', `http://127.0.0.1:${port}`, '--yes']
      const answered = await plimsoll(argv, {}, undefined, { env: { OPERATOR_SECRET: SECRET }, fetch })
      server.close()
      expect(answered).toMatchObject({
        status: 1,
        out: '',
        err: `plimsoll: admin erase: ${status} it redirects to /elsewhere, which is not followed\n`,
      })
      expect(paths).toEqual(['/v1/operator/users/ada'])
    },
  )

  it('asks nobody without the secret', async () => {
    const { status, err } = await plimsoll(['admin', 'find', 'ada', '--url', 'http://127.0.0.1:1'])
    expect([status, err]).toEqual([2, expect.stringContaining('OPERATOR_SECRET')])
  })
})
