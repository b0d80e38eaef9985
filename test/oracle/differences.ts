/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import { isRecall } from './commands.ts'
import { at, type Difference } from './compare.ts'
import type { Configuration } from './configuration.ts'
import { field, isObject, type Json, listIn, textIn } from './json.ts'
import type { Result } from './play.ts'

/** What both builds made of the history. */
export interface Played {
  readonly first: Result
  readonly second: Result
}

export interface WantedDifference {
  /** A line of CHANGELOG.md, or a part of one that no other line has. */
  readonly changelog: string
  /** Whether a difference is this one. */
  holds(difference: Difference, played: Played): boolean
  /**
   * After it epochs are other ones, and with them all that follows: nothing is compared from its
   * step on.
   */
  readonly isLasting?: true
}

export const wanted: readonly WantedDifference[] = [
  {
    changelog: '`Imported` says how many `messages` were written',
    holds: ({ command, path, old }) =>
      command.kind === 'import' && path.at(-1) === 'messages' && old === undefined,
  },
  {
    changelog: 'An epoch says how many messages its writer had read',
    holds: ({ path, old }) => path.at(-1) === 'count' && old === undefined,
  },
  {
    // The model is told why it is asked again, and that is paid for.
    changelog: 'A summary without a word',
    holds: ({ old }) => String(old).includes('it is empty'),
    isLasting: true,
  },
  {
    changelog: 'Recall finds and shows passages of messages',
    holds: ({ command, path }) => isRecall(command) || path.some(isKept),
  },
  {
    changelog: 'A window with `keep: { tokens }` and no `max.tokens` is cut when that pays',
    isLasting: true,
    holds: ({ is }, { first }) =>
      first.configurations.some(({ window }) => window?.keep?.tokens && !window.max?.tokens) &&
      JSON.stringify(is).includes('"cause":"window"'),
  },
  {
    // What it shows takes other room: then an epoch may begin, cut or sum up in another place, and
    // a summary may be written that no context shows yet.
    changelog: 'Recall finds and shows passages of messages',
    holds: ({ command, was, is }, { first }) =>
      isRecall(command) && (outsideTail(was) !== outsideTail(is) || first.configurations.some(isCompacted)),
    isLasting: true,
  },
  {
    // It leaves other room to results that are cut, and these may be shown alike all the same.
    changelog: 'Recall finds and shows passages of messages',
    holds: ({ path }, { first }) =>
      path.at(-2) === 'squeeze' && first.steps.some(({ command }) => isRecall(command)),
  },
  {
    changelog: 'It does not hide what shows nowhere',
    // Where that leaves nothing to hide, rows that follow have other numbers.
    isLasting: true,
    holds: ({ step }, { first, second }) =>
      step > first.steps.findIndex(({ command }) => command.kind === 'switchTo') &&
      nothingHidden(first) > nothingHidden(second),
  },
  {
    changelog: "by which an epoch's summary had no room began five epochs",
    isLasting: true,
    holds: ({ step, was, is }, { first }) => {
      const [old, now] = [was, is].map((one) => at(one, ['outcome', 'ok', 'receipt', 'epoch']))
      const isReported = first.steps.slice(0, step).some(({ command }) => command.kind === 'report')
      const isLess = field(old, 'cause') === 'budget' && field(now, 'cause') !== 'budget'
      return isReported && (old === 'unsaved' || isLess) && field(now, 'id') !== undefined
    },
  },
  {
    // All that shows is hidden in the order in which it shows; a version is called by the first.
    changelog: 'or under a message that shows later',
    holds: ({ command, path, was, is }, { first }) => {
      const hides = path.slice(0, path.indexOf('hides') + 1)
      if (path.includes('hides')) return removedIn(at(was, hides)) === removedIn(at(is, hides))
      const isSwitched = first.steps.some((step) => step.command.kind === 'switchTo')
      return command.kind === 'branches' && path.includes('versions') && isSwitched
    },
  },
  {
    changelog: 'What is forgotten together goes in the order in which it was written',
    // Registers have the versions of these deletes.
    isLasting: true,
    holds: ({ path, was, is }) => {
      const rows = path.slice(0, path.at(-1) === 'id' ? -2 : -1)
      const isOfSome = isDelete(at(is, path.slice(0, -1))) || path.at(-2) === 'first'
      return isOfSome && removedIn(at(was, rows)) === removedIn(at(is, rows))
    },
  },
  {
    // Before a lane's first request, where the app does not say how it is asked.
    changelog: "asks the agent's own model only where a summary pays",
    isLasting: true,
    holds: ({ was, is }) => {
      const { summary, epoch } = (at(is, ['outcome', 'ok', 'receipt']) ?? {}) as { [name: string]: Json }
      const isFirst = epoch === 'unsaved' || field(epoch, 'place') === 1
      return isAsked(was) && !isAsked(is) && isFirst && summary === undefined
    },
  },
  {
    changelog: 'What is noted of a fact with the user names the fact as a source',
    holds: ({ path, is }) => {
      const row = at(is, path.slice(0, path.lastIndexOf('sources')))
      return path.includes('sources') && /^kept\//.test((row as { readonly key?: string }).key ?? '')
    },
  },
  {
    changelog:
      'records for it which facts stood there, by their ids and the names of the ops that wrote them',
    holds: ({ path }) => path.includes('contexts'),
  },
  {
    // A session that is not there is listed by its own lines, which are not counted, by another op.
    changelog: 'No part of a file brings anything of a session back that was erased or deleted',
    isLasting: true,
    holds: ({ command, path, was, is }) =>
      command.kind === 'import' &&
      /^log,(?:written|there)$/.test(path.slice(-2).join()) &&
      Number(at(is, path)) < Number(at(was, path)),
  },
  {
    // With the facts that stood there, and they alone, beside what it showed before.
    changelog: '`contextAt` says by `tail` whether the tail is in it',
    holds: ({ command, path, was, is, old }) =>
      command.kind === 'contextAt' &&
      ((path.at(-1) === 'tail' && old === undefined) ||
        (field(at(is, ['outcome', 'ok']), 'tail') === 'whole' && windowOf(was) === windowOf(is))),
  },
]

/** What a past context shows but its tail, where it is attested. */
function windowOf(came: Json): string {
  const past = at(came, ['outcome', 'ok'])
  const blocks = listIn(field(past, 'context'), 'blocks')
  return JSON.stringify([
    field(past, 'verified') ?? null,
    blocks.filter((block) => textIn(block, 'section') !== 'tail'),
  ])
}

/** What a context shows and says of all but its tail, where what recall finds stands. */
function outsideTail(came: Json): string {
  const context = at(came, ['outcome', 'ok'])
  const blocks = listIn(context, 'blocks').filter((block) => textIn(block, 'section') !== 'tail')
  const said = ['epoch', 'summary', 'omitted'].map((name) => at(context, ['receipt', name]) ?? null)
  return JSON.stringify([blocks, said, field(came, 'events') ?? null])
}

/** Whether the model was asked for a summary meanwhile. */
function isAsked(came: Json): boolean {
  return listIn(came, 'events').some((event) => textIn(event, 'type') === 'asked')
}

function isCompacted({ compaction }: Configuration): boolean {
  return compaction !== undefined
}

/**
 * What may show nowhere, of all that rewinds of a history's end hide: results, empty texts, and
 * what was forgotten since.
 */
function nothingHidden({ steps }: Result): number {
  const logs = listIn(steps.at(-1)?.outcome, 'ok')
    .flatMap((scopes) => listIn(scopes))
    .map((scope) => listIn(scope, 'log'))
  return logs.flatMap((log) => {
    const bodies = new Map(log.map((row) => [textIn(row, 'id'), field(row, 'body')]))
    const hidden = log.flatMap((row) => listIn(field(row, 'body'), 'hides'))
    return hidden.filter((id) => {
      const body = bodies.get(String(id))
      const isEmpty = ['""', '[]'].includes(JSON.stringify(field(body, 'content')))
      return !isObject(body) || textIn(body, 'role') === 'tool' || isEmpty
    })
  }).length
}

/** Whether a row, or the line of an export, deletes. */
function isDelete(row: Json | undefined): boolean {
  return [field(row, 'kind'), field(row, 'type')].includes('delete')
}

/** What rows of one log delete, or a list names, whatever the order. */
function removedIn(rows: Json | undefined): string {
  const ids = listIn(rows).map((row) => (isDelete(row) ? textIn(row, 'id') : row))
  return JSON.stringify(ids.filter((id) => typeof id === 'string').sort())
}

/** Whether a key names what messages are found by: in their rows, or in blocks, and how many. */
function isKept(key: string | number, at: number, path: Difference['path']): boolean {
  return (
    /^recall\/[234]\//.test(String(key)) ||
    (path[at - 1] === 'derived' && (typeof key === 'number' || key === 'length'))
  )
}
