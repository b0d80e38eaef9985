/**
 * Finds the Chromium that the browser tests drive. Run as a program, it installs one where there is
 * none.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from 'playwright'

const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/**
 * What each window would start beside its page: suggestions of the address bar are two pages more,
 * a third of what a test costs.
 */
const WINDOW_FEATURES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']
/** What Playwright turns off itself: of two such lists Chromium reads the last. */
const PLAYWRIGHT_FEATURES = [
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding'],
  ...['PreconnectToSearch', 'TcpPortRandomizationWin', 'ThirdPartyStoragePartitioning'],
]

/** What Chromium needs to run as root, and to stay quiet without a network. */
export const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...PLAYWRIGHT_FEATURES, ...WINDOW_FEATURES].join()}`,
]

/** Debian's Chromium without windows, of which tests look at none: it takes a tenth less time. */
const headlessPath = '/usr/bin/chromium-headless-shell'

/**
 * The path of a Chromium on this machine, or `undefined`. `CHROMIUM_PATH` wins, and must exist if
 * set.
 */
export function findChromium(): string | undefined {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen && !existsSync(chosen)) throw new Error(`CHROMIUM_PATH names no file: ${chosen}`)
  return chosen || [...systemPaths, chromium.executablePath(), headlessPath].find(existsSync)
}

/** The same for tests, which take one without windows where it is there. */
export function findHeadless(): string | undefined {
  return !process.env.CHROMIUM_PATH && existsSync(headlessPath) ? headlessPath : findChromium()
}

/**
 * The version line of the browser; throws when it cannot start, for example for want of a shared
 * library.
 */
function versionOf(path: string): string {
  // Chrome on Windows opens a window instead of answering.
  if (process.platform === 'win32') return path
  return execFileSync(path, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

function run(command: string, ...args: string[]): void {
  console.log(`$ ${[command, ...args].join(' ')}`)
  execFileSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    shell: process.platform === 'win32', // npx is a .cmd there
  })
}

/** It installs what the browser needs, too. */
const byApt = (name: string) => ({
  name: `apt-get, for ${name}`,
  available: existsSync('/usr/bin/apt-get') && process.getuid?.() === 0,
  install: () => {
    run('apt-get', 'update', '-qq')
    run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', name)
  },
})

const installers = [
  byApt('chromium-headless-shell'),
  {
    name: "Playwright's installer",
    available: true,
    install: () => run('npx', 'playwright', 'install', '--no-shell', 'chromium'),
  },
  byApt('chromium'),
]

/** The path and version of a Chromium that starts, after installing one if need be. */
function ensureChromium(): string {
  const found = findHeadless()
  if (found) return `${found} (${versionOf(found)})`
  for (const { name, available, install } of installers) {
    if (!available) continue
    console.log(`No Chromium on this machine: trying ${name}.`)
    try {
      install()
      const path = findHeadless()
      if (path) return `${path} (${versionOf(path)})`
      console.log(`${name} left no browser behind.`)
    } catch (error) {
      console.log(`${name} failed: ${error instanceof Error ? error.message : error}`)
    }
  }
  throw new Error(
    'No Chromium for the browser tests. Install Chromium or Chrome, or set CHROMIUM_PATH to one.',
  )
}

if (import.meta.main) {
  try {
    console.log(`Chromium: ${ensureChromium()}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
