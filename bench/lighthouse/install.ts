import type { BrowserContext } from 'playwright'

/** What keeps a page from being installed, in the browser's own words. */
export async function installErrors(context: BrowserContext, url: string): Promise<string[]> {
  const page = await context.newPage()
  try {
    await page.goto(url, { waitUntil: 'load' })
    const session = await context.newCDPSession(page)
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
    return installabilityErrors.map(({ errorId, errorArguments }) =>
      [errorId, ...errorArguments.map(({ name, value }) => `${name}: ${value}`)].join(', '),
    )
  } finally {
    await page.close()
  }
}
