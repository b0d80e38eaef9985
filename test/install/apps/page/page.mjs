import 'plimsoll/chat/define'
import 'plimsoll/inspector/define'

const chat = document.querySelector('plimsoll-chat')
chat.model = async function* () {
  yield '**bold**, and\n\n- [x] done\n\n```ts\nconst answer = 42\n```\n'
}
await chat.show()
await chat.send('Show me all of it.')
