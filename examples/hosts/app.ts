/**
 * A front end on a port of its own, over the edge that `npm start` runs: the browser talks to the
 * edge itself, and the server reads there what was said. Bun and Deno serve this file as it is
 * (`bun examples/hosts/app.ts`, `deno serve --port 3000 examples/hosts/app.ts`), Node by
 * `node.ts`.
 */
import { createClient } from 'plimsoll/client'

const { EDGE = 'http://127.0.0.1:8787', PORT = '3000' } = process.env
const client = createClient({ baseUrl: EDGE })

async function fetch({ url }: Request): Promise<Response> {
  if (new URL(url).pathname !== '/') return new Response('Not found', { status: 404 })
  // Idempotent: one that is there stays as it is.
  await client.sessions.create({ sessionId: 'trip' })
  const messages = await client.session('trip').messages()
  const said = messages.map(({ role, content }) => `<p>${role}: ${escaped(textOf(content))}</p>`)
  const headers = { 'Content-Type': 'text/html; charset=utf-8' }
  return new Response(page(said.join('\n')), { headers })
}

const page = (said: string): string => `<!doctype html>
<html lang="en">
<title>A trip</title>
<link rel="icon" href="data:,">
${said}
<form><input aria-label="Write a message" autofocus><button>Send</button></form>
<script type="module">
  document.querySelector('form').onsubmit = async (event) => {
    event.preventDefault()
    const { value: message } = document.querySelector('input')
    const reply = await fetch('${EDGE}/v1/sessions/trip/chat', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message }),
    })
    await reply.text() // its end
    location.reload()
  }
</script>
</html>
`

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

export default { port: Number(PORT), fetch }
