/** All widgets in one Chromium with a profile on disk, in turns. */
import { type BrowserContext, chromium } from 'playwright'
import { findChromium, flags } from '../../test/chromium.ts'
import { median, round } from '../stats.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import { MESSAGES, VIEWPORT } from './plan.ts'
import { Site, type Weight } from './site.ts'
import { PAGED, SUBJECTS, type Subject } from './subjects.ts'
import { fillPage, type Held, type Visit, visit, type Work } from './visit.ts'
import { watchScript } from './watched.ts'

/** Visits in each round of a widget that opens soon. */
const QUICK_VISITS = 5

/** Of one widget. Times in milliseconds, medians of the visits. */
export interface WidgetRow extends Subject {
  /** Scripts and styles that its page loads as it opens, and those that it would load later. */
  readonly loaded: Weight
  readonly later: Weight
  readonly visits: number
  readonly openMs?: number
  /** Beside {@link PAGED} in the same turn: the median of the quotients. */
  readonly openOfPaged?: number
  /** The least and the most of the visits. */
  readonly openMsRange?: readonly [number, number]
  readonly opening?: Work
  readonly opened?: Figures
  readonly scrolling?: Work
  readonly scrolled?: Figures
  /** Number of the topmost message after scrolling. */
  readonly topmost?: number
  /** Why there are no figures, or fewer visits. */
  readonly note?: string
}

/** Of {@link Held}: all of the heap, in MiB, and how many nodes and listeners. */
export interface Figures {
  readonly heapMiB: number
  readonly nodes: number
  readonly listeners: number
}

export interface WidgetsReport {
  readonly chromium: string
  readonly viewport: typeof VIEWPORT
  readonly rows: readonly WidgetRow[]
}

export async function measureWidgets(
  rounds: number,
  progress: (line: string) => void,
): Promise<WidgetsReport> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: run `node test/chromium.ts`')
  const context = await chromium.launchPersistentContext(temporaryFolder(), {
    executablePath,
    args: flags,
    viewport: VIEWPORT,
  })
  const places: Place[] = []
  try {
    await context.addInitScript({ content: await watchScript() })
    for (const subject of SUBJECTS) {
      progress(`widgets: building ${subject.name}`)
      const site = await Site.open(subject)
      places.push({ subject, site, visits: [] })
      if (subject.fill) await fillPage(context, site.fillUrl, MESSAGES)
    }
    const isQuick = ({ subject }: Place): boolean => subject.isQuick === true
    // By themselves: after one that works for seconds, the machine is slower for a while.
    await visitInTurns(context, places.filter(isQuick), rounds * QUICK_VISITS, progress)
    await visitInTurns(
      context,
      places.filter((place) => !isQuick(place)),
      rounds,
      progress,
    )
    return {
      chromium: context.browser()?.version() ?? 'unknown',
      viewport: VIEWPORT,
      rows: places.map((place) =>
        rowOf(
          place,
          places.find(({ subject }) => subject.name === PAGED),
        ),
      ),
    }
  } finally {
    await context.close()
    for (const { site } of places) site.close()
  }
}

async function visitInTurns(
  context: BrowserContext,
  places: readonly Place[],
  rounds: number,
  progress: (line: string) => void,
): Promise<void> {
  for (let round = 0; round < rounds; round++)
    for (let index = 0; index < places.length; index++) {
      const place = places[(index + round) % places.length] as Place
      if (place.note) continue
      place.site.forget()
      const found = await visit(context, place.site.url, () => {
        place.weights = { loaded: place.site.weigh('asked'), later: place.site.weigh('others') }
      })
      if (typeof found === 'string') place.note = found
      else place.visits.push(found)
      const said = typeof found === 'string' ? found : `${Math.round(found.openMs)} ms`
      progress(`widgets: round ${round + 1} of ${rounds}, ${place.subject.name}: ${said}`)
    }
}

interface Place {
  readonly subject: Subject
  readonly site: Site
  readonly visits: Visit[]
  weights?: Pick<WidgetRow, 'loaded' | 'later'>
  note?: string
}

function rowOf({ subject, site, visits, weights, note }: Place, paged: Place | undefined): WidgetRow {
  const { loaded, later } = weights ?? { loaded: site.weigh('asked'), later: site.weigh('others') }
  const about = { ...subject, loaded, later, visits: visits.length, ...(note && { note }) }
  if (visits.length === 0) return about
  const middle = (of: (visit: Visit) => number): number => round(median(visits.map(of)), 4)
  const figures = (of: (visit: Visit) => Held): Figures => ({
    heapMiB: middle((visit) => heapOf(of(visit)) / 2 ** 20),
    nodes: middle((visit) => of(visit).nodes),
    listeners: middle((visit) => of(visit).listeners),
  })
  const work = (of: (visit: Visit) => Work): Work => ({
    cpuMs: middle((visit) => of(visit).cpuMs),
    longestTaskMs: middle((visit) => of(visit).longestTaskMs),
  })
  const times = visits.map((visit) => Math.round(visit.openMs))
  const isPaired = subject.isQuick && paged?.visits.length === visits.length
  const quotient = (visit: Visit, turn: number): number => visit.openMs / (paged?.visits[turn]?.openMs ?? 0)
  return {
    ...about,
    ...(isPaired && { openOfPaged: round(median(visits.map(quotient)), 4) }),
    openMs: middle((visit) => visit.openMs),
    openMsRange: [Math.min(...times), Math.max(...times)],
    opening: work(({ opening }) => opening),
    opened: figures(({ opened }) => opened),
    scrolling: work(({ scrolling }) => scrolling),
    scrolled: figures(({ scrolled }) => scrolled),
    topmost: middle(({ topmost }) => topmost),
  }
}

const heapOf = ({ heap, buffers, dom }: Held): number => heap + buffers + dom
