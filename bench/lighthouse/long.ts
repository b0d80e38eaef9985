import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright'
import { VIEWPORT } from '../widgets/plan.ts'
import { Site } from '../widgets/site.ts'
import { OURS, SUBJECTS } from '../widgets/subjects.ts'
import { fillPage } from '../widgets/visit.ts'
import { watched, watchScript } from '../widgets/watched.ts'

/** Does something with a page in which a conversation of that length shows its end. */
export async function withLong<Done>(
  context: BrowserContext,
  messages: number,
  run: (page: Page) => Promise<Done>,
): Promise<Done> {
  const subject = SUBJECTS.find(({ name }) => name === OURS)
  if (!subject) throw new Error('no widget of ours')
  const site = await Site.open(subject)
  try {
    await fillPage(context, site.fillUrl, messages)
    const page = await context.newPage()
    await page.setViewportSize(VIEWPORT)
    await page.addInitScript({ content: await watchScript() })
    await page.goto(site.url)
    await watched(page).opened(messages)
    // What is loaded when the page is idle is not part of it.
    await wait(2_000)
    const done = await run(page)
    await page.close()
    return done
  } finally {
    site.close()
  }
}
