/**
 * Wanted differences between the frozen build and the working sources. Each has a line in
 * CHANGELOG.md.
 */
import { at, type Difference } from './compare.ts'
import type { Configuration } from './configuration.ts'
import { field, isObject, type Json, type JsonObject, listIn, numberIn, textIn } from './json.ts'
import type { Result, Step } from './play.ts'
import { isSameSession, type OpenTab, receiptOf, stepsBefore, tabOf } from './played.ts'

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
    changelog: 'knows requests by are keyed by a random secret of the session',
    holds: isSecretCounted,
  },
  {
    changelog: 'To forget anything in a session begins an epoch in the session, whatever showed',
    isLasting: true,
    holds: isBegunByForgetting,
  },
  {
    changelog: 'Where two tabs begin the first epoch of a session',
    isLasting: true,
    holds: ({ step, path, old, new: now }, { first }) =>
      path.at(-1) === 'seq' &&
      Number(old) > Number(now) &&
      first.steps.slice(0, step).some(({ command }) => command.kind === 'race' && command.at === 'epoch'),
  },
  {
    changelog: 'Ids of extracted facts say where a sentence stood',
    isLasting: true,
    holds: isOtherOrder,
  },
  {
    changelog: '`contextAt` of a time before it says `forgotten`',
    holds: ({ command, path, is }) =>
      command.kind === 'contextAt' &&
      ['verified', 'reason'].includes(String(path.at(-1))) &&
      textIn(at(is, ['outcome', 'ok']), 'reason') === 'forgotten',
  },
  {
    changelog: '`receipt.exceeded` where the newest step needs more than a limit',
    holds: ({ path, old }) => path.at(-1) === 'exceeded' && path.at(-2) === 'receipt' && old === undefined,
  },
  {
    changelog: 'Options that are not known are refused',
    holds: (difference) => {
      const failures = failuresAt(difference)
      return failures?.old.some(isRefusal) === true && areAlike(failures)
    },
  },
  {
    changelog: 'what cannot be read is named by its feature',
    holds: (difference) => {
      const failures = failuresAt(difference)
      return failures?.old.some(isLongTerm) === true && areAlike(failures)
    },
  },
  {
    changelog: 'Where the read of one feature fails, what its epoch froze shows on',
    isLasting: true,
    holds: showsOn,
  },
  {
    changelog: 'An epoch that shows no facts goes on in another project',
    isLasting: true,
    holds: isOtherProject,
  },
  {
    changelog: 'An epoch that shows no facts goes on in another project',
    holds: ({ path, old, new: now, was }) =>
      path.slice(-3).join('.') === 'body.remembered.project' &&
      typeof old === 'string' &&
      now === undefined &&
      listIn(at(was, path.slice(0, -1)), 'facts').length === 0,
  },
  {
    changelog: '`tokensBefore` of a compaction',
    holds: ({ path, was, is }) => {
      const [events, , name] = path
      const cause = (step: Json): string => textIn(at(step, path.slice(0, 2)), 'cause')
      return (
        events === 'events' &&
        name === 'tokensBefore' &&
        cause(was) === cause(is) &&
        !GROWN.includes(cause(was))
      )
    },
  },
  {
    changelog: 'a session in which nothing was said, and which shows facts of the user, lists the session',
    isLasting: true,
    holds: isListedByContext,
  },
  {
    changelog: '`addExchange` reckons with the excerpt of the checkpoint',
    isLasting: true,
    holds: isAfterExchange,
  },
  {
    changelog: 'After an import that left out what an epoch had frozen',
    isLasting: true,
    holds: isSavedAfterImport,
  },
  {
    changelog: '`readBranches` leaves out places at which no version is hidden',
    holds: ({ command, was, is }) => {
      const branches = (step: Json): readonly string[] =>
        listIn(at(step, ['outcome', 'ok'])).map((one) => JSON.stringify(one))
      return command.kind === 'branches' && branches(is).every((one) => branches(was).includes(one))
    },
  },
  {
    changelog: '`contextAt` attests what was handed out',
    holds: ({ command, path, is }) =>
      command.kind === 'contextAt' &&
      (['verified', 'reason'].includes(String(path[2])) || at(is, ['outcome', 'ok', 'verified']) === true),
  },
  {
    changelog: 'what of a feature’s tail had no room',
    holds: ({ path, was, is }) => {
      const list = path.slice(0, path.lastIndexOf('receipt') + 1)
      const uses = (step: Json): readonly Json[] => listIn(at(step, list), 'remembered')
      const shown = uses(is).filter(
        (use) => !TAILS.includes(textIn(use, 'name')) || numberIn(use, 'items') > 0,
      )
      return path.includes('remembered') && JSON.stringify(shown) === JSON.stringify(uses(was))
    },
  },
  {
    changelog: 'What is to be forgotten is written to the user’s scope first',
    isLasting: true,
    holds: isAfterForgetting,
  },
  {
    changelog: 'A `commit` without messages has its `opId` on its first op',
    // Names are compared in the order in which they come: this one puts off all that follow.
    isLasting: true,
    holds: ({ old, step }, { first }) =>
      /^(part\/)?‹/.test(String(old)) &&
      first.steps
        .slice(0, step + 1)
        .some(({ command }) => command.kind === 'commit' && !command.messages?.length),
  },
  {
    changelog: '`editMessage(session, id, message)` in place of',
    holds: ({ path, old, new: now }) =>
      path.at(-1) === 'opId' &&
      String(now).startsWith('editMessage/') &&
      String(old) === String(now).replace('editMessage/', 'append/'),
  },
  {
    changelog: 'Reports count what fell in `lowered`',
    holds: ({ command, path, old }) =>
      command.kind === 'import' && path.includes('lowered') && old === undefined,
  },
  {
    changelog: 'An export has the project of each session',
    holds: ({ path, old, new: now }) =>
      path.at(-1) === 'project' && old === undefined && typeof now === 'string',
  },
  {
    changelog: 'What is extracted stays in its session',
    isLasting: true,
    holds: ({ step }, { first }) =>
      opened(first, step).some(({ extract }) => extract === 'rules' || extract === 'plain'),
  },
  {
    changelog: 'Documents of the profile show as SOUL, MEMORY, TASKS',
    isLasting: true,
    holds: isOfDocuments,
  },
  {
    changelog: 'A log that fits is shown whole',
    isLasting: true,
    holds: isShownWhole,
  },
  {
    changelog: 'At a small line a summary has room too',
    isLasting: true,
    holds: isOfSmallLine,
  },
  {
    changelog: 'At `user` a file brings no',
    isLasting: true,
    holds: ({ step }, { first }) =>
      first.steps
        .slice(0, step + 1)
        .some(({ command }) => command.kind === 'import' && command.trust === 'user'),
  },
]

/** Where lines are counted: in records of the audit, and in what an import did. */
const COUNTS = /^(?:counts\.(?:lines|log)|log\.(?:written|there)|skipped\.count|first\.length)$/
/** Sessions of one history, each of which has a secret at most. */
const MOST_SESSIONS = 8

/** Whether a session's secret is counted too, among lines or among what was imported. */
function isSecretCounted({ path, old, new: now }: Difference): boolean {
  const more = Number(now) - Number(old ?? 0)
  return COUNTS.test(path.slice(-2).join('.')) && more > 0 && more <= MOST_SESSIONS
}

/**
 * Whether an epoch ends since something was forgotten that did not show in it, or that showed in
 * its head: to the older build these were none, or another cause.
 */
function isBegunByForgetting({ step, path }: Difference, { first, second }: Played): boolean {
  const [raced, place] = path
  const of = ({ steps }: Result): Step | undefined =>
    raced === 'raced' ? steps[step]?.raced?.[Number(place)] : steps[step]
  const [old, now] = [first, second].map((result) => field(receiptOf(of(result)), 'epoch'))
  if (isObject(now)) return textIn(now, 'cause') === 'forget' && JSON.stringify(old) !== JSON.stringify(now)
  // What is not saved has no cause.
  const asked = of(second)
  const tab = asked && tabOf(second, step, asked)
  if (now === undefined || !tab) return false
  for (const { step: before, tab: own } of stepsBefore(second, step)) {
    if (FORGETTING.includes(before.command.kind) && own.store === tab.store) return true
    if (isObject(field(receiptOf(before), 'epoch')) && isSameSession(own, tab)) return false
  }
  return false
}

/**
 * Whether extracted facts of one rank stand in another order: that of their ids, which are hashes.
 * So others of them fit, or are named; and counters take other digits for other tokens.
 */
function isOtherOrder({ path, old, new: now }: Difference, { first }: Played): boolean {
  const lines = (value: Json | undefined): readonly string[] => String(value).split('\n')
  const isList = [old, now].every((one) => lines(one).some((line) => FACT_LINE.test(line)))
  const extracts = first.configurations.some(({ extract }) => extract !== undefined)
  const isId = typeof old === 'string' && /(?:^|\/)extract\//.test(old)
  return extracts && (isList || isId || path.at(-1) === 'weight')
}

/** A fact as a context shows it. */
const FACT_LINE = /^- \w+ \[/

/** Whether several documents show, or one is shortened: in another order, and in another way. */
function isOfDocuments({ step }: Difference, { first, second }: Played): boolean {
  return [first, second].some(({ steps }) =>
    listIn(receiptOf(steps[step]), 'remembered').some(
      (use) =>
        textIn(use, 'name') === 'profile' &&
        (numberIn(use, 'items') > 1 || numberIn(field(use, 'overflow'), 'count') > 0),
    ),
  )
}

/** Whether a window that begins anew shows more, and all that there is to show. */
function isShownWhole({ step, command, path, new: value }: Difference, { first, second }: Played): boolean {
  // Where nothing in it is shown otherwise.
  if (path.includes('cuts') && value === undefined) return true
  const [was, is] = [first.steps[step], second.steps[step]]
  const listed = (one: Step | undefined): number =>
    listIn(at(one as Json | undefined, ['outcome', 'ok'])).length
  if (command.kind === 'addExchange') return listed(is) > listed(was)
  const [old, now] = [receiptOf(was), receiptOf(is)]
  const shown = (receipt: JsonObject | undefined): number =>
    numberIn(
      listIn(receipt, 'sections').find((use) => textIn(use, 'name') === 'window'),
      'tokens',
    )
  const isCut = (receipt: JsonObject | undefined): boolean =>
    receipt?.summary !== undefined ||
    listIn(receipt, 'omitted').some((range) => textIn(range, 'reason') === 'window')
  // Nothing is to be summarised then.
  return !isCut(now) && (isCut(old) || shown(now) > shown(old) || path[0] === 'events')
}

/** Whether a compaction ends in another way where there is little room. */
function isOfSmallLine({ step }: Difference, { first, second }: Played): boolean {
  const [old, now] = [first, second].map(({ steps }) => steps[step])
  const sections = listIn(receiptOf(old), 'sections')
  const size = (name: string, field: string): number =>
    numberIn(
      sections.find((use) => textIn(use, 'name') === name),
      field,
    )
  const events = JSON.stringify(old?.events ?? [])
  return (
    events !== JSON.stringify(now?.events ?? []) &&
    events.includes('"compact"') &&
    size('window', 'cap') + size('memory', 'tokens') < SMALL
  )
}

/** Room below which half of it may hold no summary. */
const SMALL = 700

const FORGETTING: readonly string[] = ['forget', 'userForget', 'runDueWork', 'import']

/** With what the memories are made that were opened up to a step. */
function opened({ steps, configurations }: Result, step: number): readonly Configuration[] {
  return steps
    .slice(0, step + 1)
    .flatMap(({ command }) => (command.kind === 'open' ? (configurations[command.configuration] ?? []) : []))
}

/** What a receipt calls what features show in the tail. */
const TAILS = ['news', 'recall', 'checkpoint']

/** Causes of epochs before which the head still held. */
const GROWN = ['window', 'budget', 'late']

const FAILURES = ['outcome', 'ok', 'receipt', 'failures']

interface Failures {
  readonly old: readonly Json[]
  readonly new: readonly Json[]
}

/** What failed open in both builds, where the difference is there. */
function failuresAt({ path, was, is }: Difference): Failures | undefined {
  if (FAILURES.some((name, index) => path[index] !== name)) return undefined
  return { old: listIn(at(was, FAILURES)), new: listIn(at(is, FAILURES)) }
}

/** A memory without recall was asked for it. */
function isRefusal(failure: Json): boolean {
  return textIn(failure, 'part') === 'recall' && textIn(failure, 'code') === 'ERR_INVALID_ARGUMENT'
}

function isLongTerm(failure: Json): boolean {
  return textIn(failure, 'part') === 'long-term'
}

/** Whether the same failed for the same reason, each feature of long-term memory by itself. */
function areAlike({ old, new: now }: Failures): boolean {
  const before = old.filter((one) => !isRefusal(one))
  const features = now.filter((one) => FEATURES.includes(textIn(one, 'part')))
  const others = now.filter((one) => !features.includes(one))
  const longTerm = before.find(isLongTerm)
  return (
    JSON.stringify(before.filter((one) => one !== longTerm)) === JSON.stringify(others) &&
    (longTerm === undefined
      ? features.length === 0
      : features.length > 0 && features.every((one) => textIn(one, 'code') === textIn(longTerm, 'code')))
  )
}

/**
 * Whether an epoch began of which 0.1.0 could not read what is remembered, so that it showed
 * nothing.
 */
function showsOn({ step, command }: Difference, { first, second }: Played): boolean {
  if (['rows', 'export'].includes(command.kind)) return first.steps.slice(0, step).some(isBegunTwice)
  const [old, now] = [receiptOf(first.steps[step]), receiptOf(second.steps[step])]
  // The head was still the same, so the epoch that was asked for is the only one.
  const begun = first.steps[step]
  if (begun && isBegunTwice(begun) && textIn(field(now, 'epoch'), 'cause') === 'manual') return true
  const shows = (receipt: JsonObject | undefined): boolean =>
    listIn(receipt, 'remembered').some((use) => FROZEN.includes(textIn(use, 'name')))
  return listIn(old, 'failures').some(isLongTerm) && !shows(old) && shows(now)
}

/**
 * Whether a read failed, and then not, while an epoch was asked for: another one began in the same
 * call.
 */
function isBegunTwice(step: Step): boolean {
  const receipt = receiptOf(step)
  const { command } = step
  const isAsked = command.kind === 'context' && command.newEpoch === true
  const cause = textIn(field(receipt, 'epoch'), 'cause')
  return isAsked && listIn(receipt, 'failures').some(isLongTerm) && !['', 'manual'].includes(cause)
}

/** What a receipt calls what heads show. */
const FROZEN = ['profile', 'pins', 'skills', 'facts', 'loaded-skills']

/** What 0.1.0 read as one. */
const FEATURES = ['facts', 'profile', 'skills']

/**
 * Whether a tab of another project asks than one before it, and one of the two is shown no fact:
 * documents and skills are of no project. For the older build these were other heads; to the newer
 * one they are the same, in other sessions too.
 */
function isOtherProject({ projection, step, path }: Difference, { first }: Played): boolean {
  const [raced, place] = path
  const asked = raced === 'raced' ? first.steps[step]?.raced?.[Number(place)] : first.steps[step]
  const tab = asked && tabOf(first, step, asked)
  if (!asked || !tab || !EPOCH.some((name) => path.includes(name))) return false
  const isContext = (one: Step, own: OpenTab): boolean =>
    isObject(field(receiptOf(one), 'epoch')) && (projection === 'names' || isSameSession(own, tab))
  for (const before of stepsBefore(first, step))
    if (isContext(before.step, before.tab)) {
      if (tab.project !== before.tab.project && !(showsFacts(asked) && showsFacts(before.step))) return true
      if (projection !== 'names') return false
    }
  return false
}

function showsFacts(step: Step): boolean {
  return listIn(receiptOf(step), 'remembered').some(
    (use) => FACTS.includes(textIn(use, 'name')) && numberIn(use, 'items') > 0,
  )
}

/** Where a context says in which epoch it is. */
const EPOCH: readonly Difference['path'][number][] = ['epoch', 'head']
/** What a receipt calls the facts of a head. */
const FACTS = ['pins', 'facts']

/** Whether rows are compared after a context that showed facts alone: it listed its session. */
function isListedByContext({ step, command }: Difference, { first }: Played): boolean {
  if (!['rows', 'export', 'sessions'].includes(command.kind)) return false
  return first.steps.slice(0, step).some((one) => {
    const window = listIn(receiptOf(one), 'sections').find((use) => textIn(use, 'name') === 'window')
    return window !== undefined && numberIn(window, 'items') === 0 && showsFacts(one)
  })
}

/** Whether an exchange was added with an excerpt, and no context was built in its session since. */
function isAfterExchange({ step }: Difference, { first }: Played): boolean {
  const at = first.steps[step]
  const asked = at && tabOf(first, step, at)
  for (const before of stepsBefore(first, step + 1)) {
    const { kind } = before.step.command
    if (asked && !isSameSession(asked, before.tab)) continue
    if (kind === 'context' && before.step !== at) return false
    const sections = first.configurations[before.tab.configuration]?.sections
    if (kind === 'addExchange') return numberIn(sections, 'checkpoint') > 0
  }
  return false
}

/** Whether anything was forgotten by then, in whichever scope: rows are others from there on. */
function isAfterForgetting({ step }: Difference, { first }: Played): boolean {
  for (const before of stepsBefore(first, step + 1))
    if (['forget', 'userForget', 'runDueWork'].includes(before.step.command.kind)) return true
  return false
}

/**
 * Whether an epoch is saved by now which was not, in a session of which an import left lines out.
 */
function isSavedAfterImport({ step }: Difference, { first, second }: Played): boolean {
  const at = first.steps[step]
  const asked = at && tabOf(first, step, at)
  const epochOf = (one: Step | undefined): Json | undefined => field(receiptOf(one), 'epoch')
  if (!asked || epochOf(at) !== 'unsaved' || !isObject(epochOf(second.steps[step]))) return false
  for (const { step: before, tab } of stepsBefore(first, step)) {
    const { command, outcome } = before
    if (command.kind !== 'import' || tab.store !== asked.store || command.user !== asked.user) continue
    if ('ok' in outcome && numberIn(field(outcome.ok, 'skipped'), 'count') > 0) return true
  }
  return false
}
