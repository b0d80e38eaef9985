import { loadO200k } from '../../src/counters/o200k.ts'
import type { Context } from '../../src/index.ts'
import { checkFacts, commit, recall, remember } from './facts.ts'
import { checkCheckpoint, checkpoint, checkShared, document, skill } from './kept.ts'
import { PLACES } from './places.ts'
import type { Command, Program } from './program.ts'
import { erase, forgetOne, raceForget, work } from './removal.ts'
import { context, past } from './requests.ts'
import { checkLog, checkStore } from './rows.ts'
import { Broken, Stage, type StoreChange } from './stage.ts'
import { diskOf } from './stores.ts'
import {
  checkFiles,
  checkHistory,
  edit,
  file,
  race,
  repeat,
  rewindTo,
  switchVersion,
  undoRewind,
  write,
} from './talk.ts'
import { copyAll, exportAll } from './transfer.ts'

export interface Played {
  /** What was broken first. */
  readonly broken?: string
  /** How many contexts were built, calls refused as too small, and pasts attested. */
  readonly built: number
  readonly refused: number
  readonly attested: number
}

/** What a test puts wrong, to see that it is found. */
export interface Sabotage {
  readonly store?: StoreChange
  readonly context?: (context: Context) => Context
}

const unchanged = (built: Context): Context => built

/** Plays a program, over a store of its own. */
export async function play(program: Program, sabotage: Sabotage = {}): Promise<Played> {
  const disk = diskOf(program.store)
  const stage = new Stage(program, disk, await loadO200k(), sabotage.store)
  try {
    for (const command of program.commands) await does(stage, command, sabotage.context ?? unchanged)
    await ends(stage)
    return stage.counts
  } catch (error) {
    const broken =
      error instanceof Broken ? error.message : `threw ${error instanceof Error ? error.stack : error}`
    return { broken, ...stage.counts }
  } finally {
    await disk.close()
  }
}

async function does(stage: Stage, command: Command, change: (built: Context) => Context): Promise<void> {
  const { scope, tab } = command
  switch (command.do) {
    case 'crash':
      Object.assign(stage.fuse, { left: command.after, reached: command.reached })
      stage.dies = command.dies
      return
    case 'reopen':
      stage.tabs[tab] = stage.open()
      return checkLog(stage, scope)
    case 'wait':
      stage.now += command.hours * 3_600_000
      return
    case 'work':
      return work(stage, command)
    case 'say':
    case 'answer':
    case 'call':
    case 'result':
      return write(stage, command)
    case 'file':
      return file(stage, command)
    case 'race':
      return race(stage, command)
    case 'repeat':
      return repeat(stage, command)
    case 'rewind':
      return rewindTo(stage, command)
    case 'undo':
      return undoRewind(stage, command)
    case 'switch':
      return switchVersion(stage, command)
    case 'edit':
      return edit(stage, command)
    case 'context':
      return context(stage, command, change)
    case 'past':
      return past(stage, command)
    case 'forget':
      return forgetOne(stage, command)
    case 'race-forget':
      return raceForget(stage, command)
    case 'remember':
      return remember(stage, command)
    case 'commit':
      return commit(stage, command)
    case 'recall':
      return recall(stage, command)
    case 'checkpoint':
      return checkpoint(stage, command)
    case 'document':
      return document(stage, command)
    case 'skill':
      return skill(stage, command)
    case 'export':
      return exportAll(stage, command)
    case 'copy':
      return copyAll(stage, command)
  }
}

/** What is left in the end: all that was acknowledged, in the order of the log, byte by byte. */
async function ends(stage: Stage): Promise<void> {
  stage.fuse.left = undefined
  stage.tabs.push(stage.open())
  for (const scope of PLACES.keys()) {
    if (stage.world({ scope }).entries.length === 0) continue
    await checkLog(stage, scope)
    for (const tab of stage.tabs.keys()) {
      await checkHistory(stage, { scope, tab })
      await checkFacts(stage, { scope, tab })
      if (stage.hasAll) await checkCheckpoint(stage, { scope, tab })
      await checkShared(stage, { scope, tab })
      await checkFiles(stage, { scope, tab })
    }
    await exportAll(stage, { scope, tab: 0 })
  }
  await checkStore(stage)
  await erase(stage)
}
