// What a page may give the widget: a tool that its model may call, and what the model is to know of the page.
const chat = document.querySelector('plimsoll-chat')
const status = document.querySelector('[role=status]')

chat.pageContext = () => `The visitor sees: ${document.querySelector('#goods').textContent}`
chat.tools = [
  {
    name: 'put_in_basket',
    description: 'Puts one of the goods into the basket.',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    execute: ({ name }) => `${name} is in the basket.`,
  },
]
chat.addEventListener('plimsoll-message', ({ detail }) => {
  status.textContent = `The page was told of a message by the ${detail.message.role}.`
})
