import { beside, compared } from '../../features/rules.ts'
import { closed, closedBeside } from '../../forgetting/deletes.ts'
import { decide, nothingWritten } from '../../kernel/log/decide.ts'
import { allOrNone, look, once } from '../../kernel/log/once.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Decide } from '../../ports/store.ts'

/**
 * By which of the core's rules a scope's home decides on ops: functions do not cross between
 * objects, names do.
 */
export interface Rule {
  readonly name: RuleName
  /** Only where the log ends with this seq; else nothing is written, and each op is a conflict. */
  readonly at?: number
}

export type RuleName = keyof typeof RULES

const RULES = {
  each: decide,
  all: allOrNone,
  once,
  look,
  closed,
  closedBeside,
  compared,
  beside,
} satisfies Readonly<Record<string, Decide>>

const named = new Map<Decide, RuleName>(
  Object.entries(RULES).map(([name, rule]) => [rule, name as RuleName] as const),
)
const guarded = new WeakMap<Decide, Rule>()

/**
 * As `decide`, but nothing is written unless the log ends with `seq` when the home decides, or the
 * ops were written before. It may be given to a scope that lives in another object.
 */
export function onlyAt(seq: number): Decide {
  const rule: Rule = { name: 'each', at: seq }
  const guard = deciderOf(rule)
  guarded.set(guard, rule)
  return guard
}

/** @throws ERR_INVALID_ARGUMENT: the rule has no name, so that no other object knows it */
export function ruleOf(decide: Decide): Rule {
  const name = named.get(decide)
  const rule = name === undefined ? guarded.get(decide) : { name }
  if (!rule)
    throw new PlimsollError(
      'ERR_INVALID_ARGUMENT',
      'commit: a scope in another object decides by a rule of the core, not by a function',
      { argument: 'decide' },
    )
  return rule
}

/** @throws ERR_INVALID_ARGUMENT: a name that this version does not know */
export function deciderOf({ name, at }: Rule): Decide {
  const rule: Decide | undefined = Object.hasOwn(RULES, name) ? RULES[name] : undefined
  if (!rule) throw new PlimsollError('ERR_INVALID_ARGUMENT', `commit: no rule ${name}`, { argument: 'rule' })
  if (at === undefined) return rule
  return (ops, rows) =>
    rows.head.seq === at || ops.every(({ envelope }) => rows.results.has(envelope.opId))
      ? rule(ops, rows)
      : nothingWritten(ops.map(() => ({ status: 'conflict', version: null })))
}
