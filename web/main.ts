/** The browser process: wiring only. Shows the page in the element `#app`. */
const root = document.querySelector('#app')
if (!root) throw new Error('Cannot show the page: the document has no element #app')

const heading = document.createElement('h1')
heading.textContent = 'Plimsoll'
const line = document.createElement('p')
line.textContent = 'Agent memory that never loads past the line.'
root.replaceChildren(heading, line)

export {}
