/**
 * Mutants that change nothing that a caller could see, with the reason. They are not counted. They
 * are found by the text of their line: a change of the code takes them off this list, or fails.
 */
export interface Equivalent {
  readonly file: string
  /** The whole line in which the mutant stands. */
  readonly code: string
  readonly original: string
  readonly replacement: string
  readonly why: string
}

const CACHE = 'What is kept is only made again.'
const TYPE = 'The compiler asks for it; the value is always there.'
const ONLY_TRUTH = 'It is only asked whether it is true.'
const SHORT_CUT = 'A short cut: the way around it ends in the same.'
const OTHER_WORD = 'It is compared with other values only.'

export const equivalents: readonly Equivalent[] = [
  ...of(
    'context/blocks.ts',
    `const shown = stored <= old ? text : capOutput(text, old, counter.count, \`#\${row.ordinal}\`)`,
    [['stored <= old', '(stored) < (old)', SHORT_CUT]],
  ),
  ...of('context/blocks.ts', "? this.#keep(unit, 'opener', false, () => [this.#cappedUser(unit)])", [
    ["'opener'", "''", OTHER_WORD],
    ['false', 'true', 'A user message makes no call that could be missing.'],
  ]),
  ...of('context/call.ts', 'readonly #measures = keeper<Measure>(2)', [
    ['2', '(1)', CACHE],
    ['2', '(3)', CACHE],
  ]),
  ...of('context/epoch.ts', 'if (!withheld) return false', [['false', 'undefined', ONLY_TRUTH]]),
  ...of('context/gaps.ts', 'const from = after?.rows[0]?.id ?? oldest', [
    ['after?.rows[0]?.id', 'after?.rows[0].id', TYPE],
  ]),
  ...of('context/head.ts', "const place = (section: Section): number => (section.in === 'system' ? 0 : 1)", [
    ['0', '(-1)', 'Only their order counts.'],
    ['1', '(2)', 'Only their order counts.'],
  ]),
  ...of('context/lane.ts', "const epoch = this.#draft(planned, cause ?? 'start')", [["'start'", "''", TYPE]]),
  ...of(
    'context/lane.ts',
    'const from = epoch ? rows.findIndex(({ id }) => id === epoch.mark.windowFrom) : -1',
    [['1', '(2)', 'Any number below 0 does.']],
  ),
  ...of(
    'context/measure.ts',
    'const layout = isGrown ? laid.layout.grown(units) : new Layout(units, this.shelf)',
    [['isGrown', 'false', CACHE]],
  ),
  ...of(
    'context/plan.ts',
    'const calibrations = reported > ask.calibration ? [reported, ask.calibration] : [reported]',
    [
      ['reported > ask.calibration', 'true', 'A further attempt at the same or less fails like the first.'],
      ['reported > ask.calibration', '(reported) >= (ask.calibration)', 'The same attempt twice.'],
    ],
  ),
  ...of(
    'context/plan.ts',
    'const rungs = Object.keys(partsAt(calibrations[0] as number, 0)).length > 0 ? RUNGS : ALL',
    [
      [
        'Object.keys(partsAt(calibrations[0] as number, 0)).length > 0',
        'true',
        'The same attempt three times.',
      ],
    ],
  ),
  ...of('context/view.ts', 'readonly #rows = keeper<readonly LogRow[]>(1)', [['1', '(2)', CACHE]]),
  ...of('context/view.ts', 'if (entries.length > 0) this.#entries = [...this.#entries, ...entries]', [
    ['0', '(-1)', SHORT_CUT],
    ['entries.length > 0', 'true', SHORT_CUT],
    ['entries.length > 0', '(entries.length) >= (0)', SHORT_CUT],
  ]),
  ...of(
    'context/window.ts',
    'const opener = goesOn ? last.window.opener : foldOpener ? undefined : this.openerOf(from)',
    [['goesOn', 'false', CACHE]],
  ),
  ...of('context/window.ts', "? this.tokens(newest, 'new')", [["'new'", "''", OTHER_WORD]]),
  ...of('context/window.ts', 'const opener = this.units[this.#placeOf(unit.round) ?? -1]', [
    ['1', '(2)', 'Any number below 0 does.'],
  ]),
  ...of('log/decide.ts', "const { opId, key = '', base = null, sources, index } = envelope", [
    ["''", "'mutant'", TYPE],
  ]),
  ...of('log/entries.ts', 'if (!page.more || !last) return rows', [['!last', 'false', TYPE]]),
  ...of(
    'log/history.ts',
    'return results.reduce((sum, result) => sum + (result.row.body?.length ?? 0), row.body?.length ?? 0)',
    [
      ['result.row.body?.length', 'result.row.body.length', TYPE],
      ['row.body?.length', 'row.body.length', TYPE],
    ],
  ),
  ...of('log/message.ts', 'return TRUST.indexOf(a) < TRUST.indexOf(b) ? a : b', [
    [
      'TRUST.indexOf(a) < TRUST.indexOf(b)',
      '(TRUST.indexOf(a)) <= (TRUST.indexOf(b))',
      'Then both are the same.',
    ],
  ]),
  ...of('log/session-list.ts', "if (!result || result.status === 'accepted') return", [
    ['!result', 'false', TYPE],
  ]),
  ...of(
    'log/writer.ts',
    "some.flatMap((result) => ('seq' in result && (!repeated || result.repeated) ? result.seq : []))",
    [["'seq' in result", 'true', 'Where any was refused, this is not reached.']],
  ),
  ...of('context/blocks.ts', 'this.#kept.set(row, kept)', [['this.#kept.set(row, kept)', '', CACHE]]),
  ...of(
    'context/epoch.ts',
    'if (this.#unchanged?.id === id && this.#unchanged.origin === origin) return false',
    [['this.#unchanged?.id === id && this.#unchanged.origin === origin', 'false', CACHE]],
  ),
  ...of('context/gaps.ts', "const first = entries.find(({ kind }) => kind === 'message') ?? entries.at(-1)", [
    ['1', '(0)', 'Between entries without any message there is none either.'],
    ['1', '(2)', 'Between entries without any message there is none either.'],
  ]),
  ...of('context/plan.ts', "throw new Error('unreachable: the last attempt returns or throws')", [
    ["'unreachable: the last attempt returns or throws'", "''", TYPE],
  ]),
  ...of(
    'context/receipt.ts',
    'if (from !== (window.opener ? 1 : 0) || unshown.length > 0 || loose.length > 0) {',
    [
      ['0', '(-1)', SHORT_CUT],
      ['1', '(0)', SHORT_CUT],
    ],
  ),
  ...of('context/view.ts', '#seq = 0', [
    ['0', '(1)', 'It is set before it is read.'],
    ['0', '(-1)', 'It is set before it is read.'],
  ]),
  ...of(
    'context/window.ts',
    'return unit ? this.#shelf.unit(unit, shown, index === this.units.length - 1).tokens : 0',
    [
      [
        'index === this.units.length - 1',
        '(index) !== (this.units.length - 1)',
        'A tail takes as many tokens.',
      ],
      ['this.units.length - 1', '(this.units.length) + (1)', 'A tail takes as many tokens.'],
    ],
  ),
  ...of('log/writer.ts', "const opens = messages[0]?.role === 'user'", [
    ['messages[0]?.role', 'messages[0].role', TYPE],
  ]),
  ...of(
    'context/blocks.ts',
    'const missing = calls.reduce((count, { answered }) => count + (answered ? 0 : 1), 0)',
    [['1', '(2)', 'It only tells states apart, and still does.']],
  ),
  ...of('context/blocks.ts', 'const capped = outputs.some((part, at) => part !== joined[at]?.part)', [
    ['joined[at]?.part', 'joined[at].part', TYPE],
  ]),
  ...of('context/call.ts', 'this.#counts.set(row, tokens)', [['this.#counts.set(row, tokens)', '', CACHE]]),
  ...of('context/call.ts', 'readonly #closings = keeper<Block>(1)', [['1', '(2)', CACHE]]),
  ...of('context/epoch.ts', 'if (!epoch || isOutgrown || loose.length === 0) return undefined', [
    ['loose.length === 0', 'false', SHORT_CUT],
  ]),
  ...of('context/epoch.ts', 'this.#unchanged = { id, origin }', [['{ id, origin }', '({})', CACHE]]),
  ...of('context/view.ts', 'if (message) this.#messages.set(row.id, message)', [['message', 'false', CACHE]]),
  ...of('context/view.ts', 'for (const row of this.#entries.slice(0, index)) this.#messages.delete(row.id)', [
    ['this.#messages.delete(row.id)', '', CACHE],
  ]),
  ...of(
    'context/view.ts',
    'if (!this.whole) await this.#readBack(Math.min(PAGE_ROWS, this.#page * 2), this.#entries)',
    [['2', '(3)', 'It is only read in other portions.']],
  ),
  ...of('context/window.ts', 'if (this.units[0]?.row.id === id) return 0', [
    ['this.units[0]?.row.id === id', 'false', SHORT_CUT],
  ]),
  ...of(
    'log/decide.ts',
    'const current = slot === undefined ? undefined : (marks.get(slot) ?? rows.head.marks.get(slot))',
    [['slot === undefined', 'false', 'No mark is kept under no slot.']],
  ),
  ...of('context/cut.ts', 'let best = { from: newest, tokens: 0 }', [
    ['0', '(1)', 'It is set before it is read.'],
    ['0', '(-1)', 'It is set before it is read.'],
  ]),
  ...of(
    'context/plan.ts',
    'const rungs = Object.keys(partsAt(calibrations[0] as number, 0)).length > 0 ? RUNGS : ALL',
    [['0', '(-1)', 'The same attempt three times.']],
  ),
  ...of(
    'context/window.ts',
    'return unit ? this.#shelf.unit(unit, shown, index === this.units.length - 1).tokens : 0',
    [['1', '(2)', 'A tail takes as many tokens.']],
  ),
  ...of('log/fold.ts', 'if (calls.length > 0) steps.push(unit)', [['calls.length > 0', 'true', SHORT_CUT]]),
  ...of('context/blocks.ts', 'ways.set(shown, made)', [['ways.set(shown, made)', '', CACHE]]),
  ...of('context/blocks.ts', 'return callId(row.id, call?.index ?? 0)', [
    ['0', '(1)', TYPE],
    ['0', '(-1)', TYPE],
  ]),
  ...of('context/epoch.ts', 'if (emptied.length === 0) return false', [
    ['emptied.length === 0', 'false', SHORT_CUT],
  ]),
  ...of('context/epoch.ts', 'if (this.#inOrder === origin) return false', [
    ['false', 'undefined', ONLY_TRUTH],
  ]),
  ...of('context/lane.ts', "const entry = units.at(-1)?.row.id ?? ''", [["''", "'mutant'", TYPE]]),
  ...of('context/plan.ts', 'const within = covering && cover?.within(covering, view, layout)', [
    ['cover?.within(covering, view, layout)', 'cover.within(covering, view, layout)', TYPE],
  ]),
  ...of('context/view.ts', 'if (message) this.#messages.set(row.id, message)', [
    ['this.#messages.set(row.id, message)', '', CACHE],
  ]),
  ...of('log/fold.ts', 'if (calls.length > 0) steps.push(unit)', [['0', '(-1)', SHORT_CUT]]),
  ...of(
    'log/history.ts',
    'return results.reduce((sum, result) => sum + (result.row.body?.length ?? 0), row.body?.length ?? 0)',
    [['0', '(1)', TYPE]],
  ),
]

function of(
  file: string,
  code: string,
  mutants: readonly (readonly [original: string, replacement: string, why: string])[],
): readonly Equivalent[] {
  return mutants.map(([original, replacement, why]) => ({
    file: `src/kernel/${file}`,
    code,
    original,
    replacement,
    why,
  }))
}
