import type { Page } from 'playwright'

/** What the page is told, and has to know once it is loaded again. */
const SECRET = 'The code is 7 lemons'

/**
 * Says something in a front end of `examples/hosts`, and visits it once more.
 *
 * @throws where the edge's reply does not show, something is forgotten, or the browser complains
 */
export async function talk(page: Page, url: string): Promise<void> {
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(url)
  await page.getByLabel('Write a message').fill(SECRET)
  await page.getByRole('button', { name: 'Send' }).click()
  for (let visit = 0; visit < 2; visit++) {
    await page.getByText(`user: ${SECRET}`).waitFor({ timeout: 20_000 })
    // The scripted model repeats what it was told.
    await page.getByText(new RegExp(`assistant: .*${SECRET}`)).waitFor({ timeout: 20_000 })
    await page.goto(url)
  }
  if (complaints.length > 0) throw new Error(complaints.join('\n'))
}
