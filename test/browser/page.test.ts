import { expect, test } from 'vitest'

test('the page shows its name and what it is', async () => {
  const page = document.createElement('iframe')
  page.src = '/web/index.html'
  document.body.append(page)

  const text = () => page.contentDocument?.querySelector('#app')?.textContent
  await expect.poll(text).toBe('PlimsollAgent memory that never loads past the line.')
  expect(page.contentDocument?.title).toBe('Plimsoll')
  page.remove()
})
