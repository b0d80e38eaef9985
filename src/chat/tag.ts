/**
 * `<script type="module" src="…/plimsoll-chat.js">`: registers the element, and puts one into a
 * page that has none. The attributes of the script that begin with `data-` are then its attributes.
 */
import './define.ts'

const script = [...document.querySelectorAll('script')].find(({ src }) => src === import.meta.url)

if (!document.querySelector('plimsoll-chat')) {
  const chat = document.createElement('plimsoll-chat')
  for (const [name, value] of Object.entries(script?.dataset ?? {})) chat.setAttribute(name, value ?? '')
  document.body.append(chat)
}
