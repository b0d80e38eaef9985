/**
 * `<script type="module" src="…/plimsoll-chat.js">`: registers the element, and puts one into a
 * page that has none. The attributes of the script that begin with `data-` are then its attributes.
 * In a bundler's file, which is called otherwise, it registers the element alone: the app puts it
 * where it wants it.
 */
import './define.ts'

const script = [...document.scripts].find(({ src }) => src === import.meta.url)

if (script?.src.includes('/plimsoll-chat') && !document.querySelector('plimsoll-chat')) {
  const chat = document.createElement('plimsoll-chat')
  for (const [name, value] of Object.entries(script.dataset)) chat.setAttribute(name, `${value}`)
  document.body.append(chat)
}
