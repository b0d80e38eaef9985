/** What listens at the port of `npm start`. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from '../../worker/local/front.ts'

const portOf = (server: Server): number => (server.address() as AddressInfo).port

it('breaks an answer off where it broke off behind: its reader would wait for the rest without end', async () => {
  const edge = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: 1\n\n', () => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(edge, 'listening')
  const front = await listen(0, { port: portOf(edge), headers: {} })
  const { body } = await fetch(`http://127.0.0.1:${portOf(front)}/`)
  await expect(new Response(body).text()).rejects.toThrow('terminated')
  for (const server of [front, edge]) server.close()
})
