/**
 * `<script type="module" src="…/plimsoll-chat.js">`: registers the element, and puts one into a
 * page that has none. The attributes of the script that begin with `data-` are then its attributes.
 * In a bundler's file, which is called otherwise, it registers the element alone: the app puts it
 * where it wants it.
 */
import './define.ts'

// By the file's own name: an app may live in a folder, or on a server, that is called so.
const script = [...document.scripts].find(
  ({ src }) => src === import.meta.url && /\/plimsoll-chat[^/]*$/.test(src),
)

if (script && !document.querySelector('plimsoll-chat')) {
  const chat = document.createElement('plimsoll-chat')
  for (const name in script.dataset) chat.setAttribute(name, script.dataset[name] as string)
  document.body.append(chat)
}
