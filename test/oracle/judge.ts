/** Where a result breaks a law. */
import { LawChecker } from './check.ts'
import type { History, TabCommand } from './commands.ts'
import { type Result, type Step, shownIn } from './play.ts'

/** @returns what is broken, a line each, with the step */
export function broken({ configurations }: History, { steps }: Result): readonly string[] {
  const checker = new LawChecker()
  const tabs = new Map<string, { readonly configuration: number; readonly scope: string }>()
  const open = (command: TabCommand): void => {
    if (command.kind !== 'open') return
    const { configuration, store, tenant = '', user, session = 'default' } = command
    tabs.set(command.tab, { configuration, scope: JSON.stringify([store, tenant, user, session]) })
  }
  const found: string[] = []
  const judge = (step: Step, at: number): void => {
    const { command, outcome, log = [], raced = [] } = step
    for (const one of raced) judge(one, at)
    if ('error' in outcome && outcome.error.code === 'ERR_LAW_BROKEN')
      found.push(`step ${at}: the library itself says that a law is broken`)
    if (!('tab' in command)) return
    open(command)
    if (['erase', 'deleteSession', 'import', 'forget', 'runDueWork'].includes(command.kind)) checker.forget()
    const tab = tabs.get(command.tab)
    const configuration = tab && configurations[tab.configuration]
    const context = shownIn(step)
    if (!tab || !configuration || !context || !step.log) return
    for (const line of checker.check({ context, configuration, log, scope: tab.scope }))
      found.push(`step ${at}: ${line}`)
  }
  for (const [at, step] of steps.entries()) judge(step, at)
  return found
}
