// An assistant that opens and answers with the network off: its memory and its replies are in the
// browser, its files in a service worker.
import 'plimsoll/chat/define'
import { registerSW } from 'virtual:pwa-register'
import type { PlimsollChat } from 'plimsoll/chat'

const chat = document.querySelector('plimsoll-chat') as PlimsollChat
// A model of your own that runs in the page goes here. Without one: the browser's, where it has
// one, else the scripted demo, which says so.
chat.pageContext = () =>
  `It is ${new Date().toLocaleString()}. The network is ${navigator.onLine ? 'on' : 'off'}.`

registerSW({ immediate: true })
