/** `app.ts` by `node:http`: `npx node examples/hosts/node.ts`. */
import { createServer } from 'node:http'
import app from './app.ts'

createServer(async ({ url = '/', headers: { host } }, response) => {
  const answer = await app.fetch(new Request(new URL(url, `http://${host}`)))
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
}).listen(app.port, () => console.log(`http://localhost:${app.port}/`))
