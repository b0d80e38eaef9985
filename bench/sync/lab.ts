import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePage } from '../stores/chromium.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import { DevicePage } from './devices.ts'
import { ServerProcess } from './server-process.ts'

/** A server and two devices, each a process of its own, all on this machine. */
export interface Lab {
  readonly server: ServerProcess
  readonly first: DevicePage
  readonly second: DevicePage
}

export async function withLab<Result>(work: (lab: Lab) => Promise<Result>): Promise<Result> {
  const folder = temporaryFolder()
  const script = join(folder, 'page.js')
  writeFileSync(script, await bundlePage(new URL('page/main.ts', import.meta.url)))
  const server = await ServerProcess.start(folder, script)
  const devices: DevicePage[] = []
  const device = async (name: string): Promise<DevicePage> => {
    const opened = await DevicePage.open(join(folder, name), server.url)
    devices.push(opened)
    return opened
  }
  try {
    return await work({ server, first: await device('first'), second: await device('second') })
  } finally {
    for (const opened of devices) await opened.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
