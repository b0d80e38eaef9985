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
const SHORT_CUT = 'A short cut: the way around it ends in the same.'
const PORTIONS = 'It is only read in other portions.'
const AGAIN = 'Features only read again what they know.'
const SET = 'It is set before it is read.'
const ONLY_TRUTH = 'It is only asked whether it is true.'
const OTHER_WORD = 'It is compared with other values only.'

export const equivalents: readonly Equivalent[] = [
  ...of('kernel/context/blocks.ts', "? this.#keep(unit, 'opener', false, () => [this.#cappedUser(unit)])", [
    ["'opener'", "''", OTHER_WORD],
    ['false', 'true', 'A user message makes no call that could be missing.'],
  ]),
  ...of('kernel/context/call.ts', 'readonly #measures = keeper<Measure>(2)', [
    ['2', '(1)', CACHE],
    ['2', '(3)', CACHE],
  ]),
  ...of('kernel/context/gaps.ts', 'const from = after?.rows[0]?.id ?? oldest', [
    ['after?.rows[0]?.id', 'after?.rows[0].id', TYPE],
  ]),
  ...of(
    'kernel/context/head.ts',
    "const place = (section: Section): number => (section.in === 'system' ? 0 : 1)",
    [
      ['0', '(-1)', 'Only their order counts.'],
      ['1', '(2)', 'Only their order counts.'],
    ],
  ),
  ...of('kernel/context/lane.ts', "cause: cause ?? 'start',", [["'start'", "''", TYPE]]),
  ...of('kernel/context/lane.ts', "const next = this.#draft(planned, cause ?? 'start')", [
    ["'start'", "''", TYPE],
  ]),
  ...of(
    'kernel/context/lane.ts',
    'const from = epoch ? rows.findIndex(({ id }) => id === epoch.mark.windowFrom) : -1',
    [['1', '(2)', 'Any number below 0 does.']],
  ),
  ...of(
    'kernel/context/measure.ts',
    'const layout = isGrown ? laid.layout.grown(units) : new Layout(units, this.shelf)',
    [['isGrown', 'false', CACHE]],
  ),
  ...of('kernel/context/measure.ts', 'if (laid?.conversation === conversation) return laid.layout', [
    ['laid?.conversation === conversation', 'false', CACHE],
  ]),
  ...of(
    'kernel/context/window.ts',
    'const opener = goesOn ? last.window.opener : foldOpener ? undefined : this.openerOf(from)',
    [['goesOn', 'false', CACHE]],
  ),
  ...of('kernel/context/window.ts', "? this.tokens(newest, 'new')", [["'new'", "''", OTHER_WORD]]),
  ...of('kernel/context/window.ts', 'const opener = this.units[this.#placeOf(unit.round) ?? -1]', [
    ['1', '(2)', 'Any number below 0 does.'],
  ]),
  ...of('kernel/log/decide.ts', "const { opId, key = '', base = null, sources, index } = envelope", [
    ["''", "'mutant'", TYPE],
  ]),
  ...of('kernel/log/decide.ts', '...(column !== undefined && { derived: column }),', [
    ['column !== undefined', 'true', 'A column without a value reads like none.'],
  ]),
  ...of('kernel/log/decide.ts', '...(lane !== undefined && { lane }),', [
    ['lane !== undefined', 'true', 'A column without a value reads like none.'],
  ]),
  ...of(
    'kernel/log/seal.ts',
    "return partsOf(message).flatMap((part) => (part.type === 'media' ? (part.ref ?? []) : []))",
    [["part.type === 'media'", 'true', 'No other part has that field.']],
  ),
  ...of(
    'kernel/log/writer.ts',
    "const checked = value === undefined ? value : await write.check?.('commit', value as never, options)",
    [
      [
        "write.check?.('commit', value as never, options)",
        "write.check('commit', value as never, options)",
        TYPE,
      ],
    ],
  ),
  ...of('kernel/log/writer.ts', 'if (messages.length === 0) return []', [
    ['0', '(-1)', SHORT_CUT],
    ['messages.length === 0', 'false', SHORT_CUT],
  ]),
  ...of('kernel/log/entries.ts', 'if (!page.more || !last) return rows', [['!last', 'false', TYPE]]),
  ...of('kernel/log/entries.ts', 'if (row && row.seq > (opener?.seq ?? 0)) opener = row', [
    ['0', '(-1)', 'Ops are numbered from 1 on.'],
  ]),
  ...of('kernel/log/history.ts', 'const FIRST_ROWS = 8', [
    ['8', '(9)', PORTIONS],
    ['8', '(7)', PORTIONS],
  ]),
  ...of('kernel/log/history.ts', 'const ROWS_A_ROUND = 4', [
    ['4', '(5)', PORTIONS],
    ['4', '(3)', PORTIONS],
  ]),
  ...of('kernel/log/message.ts', 'return TRUST.indexOf(a) < TRUST.indexOf(b) ? a : b', [
    [
      'TRUST.indexOf(a) < TRUST.indexOf(b)',
      '(TRUST.indexOf(a)) <= (TRUST.indexOf(b))',
      'Then both are the same.',
    ],
  ]),
  ...of('kernel/log/add-session.ts', "if (!result || result.status === 'accepted') return", [
    ['!result', 'false', TYPE],
  ]),
  ...of('kernel/log/writer.ts', "'seq' in result && (!repeated || result.repeated) ? result.seq : [],", [
    ["'seq' in result", 'true', 'Where any was refused, this is not reached.'],
  ]),
  ...of('kernel/context/blocks.ts', 'if (ways !== kept?.ways) this.#kept.set(row, { by, ways })', [
    ['this.#kept.set(row, { by, ways })', '', CACHE],
  ]),
  ...of(
    'kernel/context/gaps.ts',
    "const first = entries.find(({ kind }) => kind === 'message') ?? entries.at(-1)",
    [
      ['1', '(0)', 'Between entries without any message there is none either.'],
      ['1', '(2)', 'Between entries without any message there is none either.'],
    ],
  ),
  ...of(
    'kernel/context/receipt.ts',
    'if (from !== (window.opener ? 1 : 0) || unshown.length > 0 || loose.length > 0) {',
    [
      ['0', '(-1)', SHORT_CUT],
      ['1', '(0)', SHORT_CUT],
    ],
  ),
  ...of('kernel/context/view.ts', '#seq = 0', [
    ['0', '(1)', SET],
    ['0', '(-1)', SET],
  ]),
  ...of(
    'kernel/context/window.ts',
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
  ...of('kernel/log/writer.ts', "const opens = messages[0]?.role === 'user'", [
    ['messages[0]?.role', 'messages[0].role', TYPE],
  ]),
  ...of('kernel/context/call.ts', 'readonly #texts = keeper<HeadTexts>(2)', [
    ['2', '(1)', CACHE],
    ['2', '(3)', CACHE],
  ]),
  ...of('kernel/context/call.ts', 'this.#counts.set(row, tokens)', [
    ['this.#counts.set(row, tokens)', '', CACHE],
  ]),
  ...of('kernel/context/call.ts', 'readonly #closings = keeper<Block>(1)', [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of('kernel/context/call.ts', 'readonly #fences = keeper<string>(1)', [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of('kernel/context/call.ts', "const told = (covering && this.#cover?.text(covering, tag)) ?? ''", [
    ['this.#cover?.text(covering, tag)', 'this.#cover.text(covering, tag)', TYPE],
  ]),
  ...of('kernel/context/shows.ts', 'const KEPT = 4', [
    ['4', '(5)', CACHE],
    ['4', '(3)', CACHE],
  ]),
  ...of('kernel/context/shows.ts', 'const count = KEPT * shows.length', [
    ['KEPT * shows.length', '(KEPT) / (shows.length)', CACHE],
  ]),
  ...of('kernel/context/measure.ts', 'readonly #heads = keeper<Head>(1)', [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of('kernel/context/epoch.ts', 'readonly #late = keeper<boolean>(1)', [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of('kernel/context/epoch.ts', 'readonly #forgotten = keeper<boolean>(1)', [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of(
    'kernel/context/epoch.ts',
    "if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))",
    [["''", "'mutant'", 'No entry has that id.']],
  ),
  ...of('kernel/context/lane.ts', "return result?.status === 'accepted' && result.applied", [
    ['result?.status', 'result.status', TYPE],
  ]),
  ...of('kernel/context/view.ts', 'if (entries.length > 0) this.#show([...this.#entries, ...entries])', [
    ['0', '(-1)', SHORT_CUT],
    ['entries.length > 0', 'true', SHORT_CUT],
    ['entries.length > 0', '(entries.length) >= (0)', SHORT_CUT],
  ]),
  ...of(
    'kernel/context/view.ts',
    'if (this.next.base !== (this.epoch?.mark.id ?? null)) await this.#readEpoch(store)',
    [['this.next.base !== (this.epoch?.mark.id ?? null)', 'true', SHORT_CUT]],
  ),
  ...of('kernel/context/view.ts', 'if (this.#trimmed === id) return', [
    ['this.#trimmed === id', 'false', SHORT_CUT],
  ]),
  ...of(
    'kernel/context/view.ts',
    'return this.#entries.findLast((row) => row.id === id) ?? readEntry(reads, id)',
    [
      [
        'this.#entries.findLast((row) => row.id === id)',
        'this.#entries.find((row) => row.id === id)',
        'No two entries have one id.',
      ],
    ],
  ),
  ...of('kernel/context/epoch.ts', 'const after = rows.find(({ id }) => id === first?.round)?.ordinal ?? 0', [
    ['0', '(-1)', 'Messages are numbered from 1 on.'],
  ]),
  ...of(
    'kernel/context/view.ts',
    'const ordinal = this.#opened.get(id) ?? (await readEntry(this.#store, id))?.ordinal ?? 0',
    [
      ['0', '(1)', TYPE],
      ['0', '(-1)', TYPE],
    ],
  ),
  ...of(
    'kernel/context/view.ts',
    'while (!this.whole && (this.#entries[0]?.ordinal ?? 0) > first) await this.extend()',
    [
      ['0', '(1)', PORTIONS],
      ['this.#entries[0]?.ordinal', 'this.#entries[0].ordinal', TYPE],
      ['(this.#entries[0]?.ordinal ?? 0) > first', '((this.#entries[0]?.ordinal ?? 0)) >= (first)', PORTIONS],
      ['(this.#entries[0]?.ordinal ?? 0) > first', 'true', PORTIONS],
    ],
  ),
  ...of('kernel/context/blocks.ts', 'outputs[index] ??= isOnly', [
    [
      "outputs[index] ??= isOnly\n      ? this.#stored(row, message) - this.#count([{ ...part, output: '' }])\n      : counter.count(text)",
      "outputs[index] = isOnly\n      ? this.#stored(row, message) - this.#count([{ ...part, output: '' }])\n      : counter.count(text)",
      CACHE,
    ],
  ]),
  ...of('kernel/context/view.ts', 'this.#opened.set(id, ordinal)', [
    ['this.#opened.set(id, ordinal)', '', CACHE],
  ]),
  ...of('kernel/context/view.ts', 'const FIRST_PAGE = 64', [
    ['64', '(65)', PORTIONS],
    ['64', '(63)', PORTIONS],
  ]),
  ...of('kernel/context/view.ts', 'const known = this.isOutgrown ? undefined : mark', [
    ['this.isOutgrown', 'false', PORTIONS],
  ]),
  ...of(
    'kernel/context/view.ts',
    "const changed = rows.findLast(({ kind, id }) => kind === 'put' && !id.startsWith(HEAD_KEY))",
    [
      ['!id.startsWith(HEAD_KEY)', 'true', AGAIN],
      ['id.startsWith(HEAD_KEY)', 'id.endsWith(HEAD_KEY)', AGAIN],
      ["kind === 'put'", 'true', AGAIN],
      ["kind === 'put' && !id.startsWith(HEAD_KEY)", "(kind === 'put') || (!id.startsWith(HEAD_KEY))", AGAIN],
    ],
  ),
  ...of('kernel/context/view.ts', 'isOutgrown = false', [['false', 'true', SET]]),
  ...of('kernel/context/view.ts', 'whole = false', [['false', 'true', SET]]),
  ...of('kernel/context/view.ts', 'if (message) this.#messages.set(row, message)', [
    ['message', 'false', CACHE],
    ['this.#messages.set(row, message)', '', CACHE],
  ]),
  ...of(
    'kernel/context/view.ts',
    'await this.#readBack(Math.min(PAGE_ROWS, this.#page * 2), this.#entries)',
    [
      ['2', '(3)', PORTIONS],
      ['2', '(1)', PORTIONS],
      ['Math.min(PAGE_ROWS, this.#page * 2)', 'Math.max(PAGE_ROWS, this.#page * 2)', PORTIONS],
    ],
  ),
  ...of('kernel/context/window.ts', 'this.#last = { cuts, end: this.units.length, window }', [
    ['{ cuts, end: this.units.length, window }', '({})', CACHE],
  ]),
  ...of(
    'kernel/context/view.ts',
    'this.#conversation ??= fold([...this.rewinds, ...this.#entries], this.#message, this.opener)',
    [
      [
        'this.#conversation ??= fold([...this.rewinds, ...this.#entries], this.#message, this.opener)',
        'this.#conversation = fold([...this.rewinds, ...this.#entries], this.#message, this.opener)',
        CACHE,
      ],
    ],
  ),
  ...of('kernel/context/window.ts', 'if (this.units[0]?.row.id === id) return 0', [
    ['this.units[0]?.row.id === id', 'false', SHORT_CUT],
  ]),
  ...of(
    'kernel/log/decide.ts',
    'const current = slot === undefined ? undefined : (marks.get(slot) ?? rows.head.marks.get(slot))',
    [['slot === undefined', 'false', 'No mark is kept under no slot.']],
  ),
  ...of('text/cap.ts', 'if (room <= 0) return note', [
    ['0', '(-1)', SHORT_CUT],
    ['room <= 0', '(room) < (0)', SHORT_CUT],
  ]),
  ...of(
    'kernel/context/keeper.ts',
    'for (let index = 0; index < start.length; index++) if (list[index] !== start[index]) return false',
    [['false', 'undefined', ONLY_TRUTH]],
  ),
  ...of(
    'kernel/context/epoch.ts',
    'if ((cap - margin - call.room + tokens) * reported <= cap * calibration) return false',
    [['false', 'undefined', ONLY_TRUTH]],
  ),
  ...of(
    'kernel/context/view.ts',
    'const isLong = this.epoch ? this.#isOver && !this.isOutgrown : this.#entries.length > MOST_ROWS',
    [['!this.isOutgrown', 'true', SHORT_CUT]],
  ),
  ...of(
    'kernel/context/blocks.ts',
    'const parts = errors.map((error, at) => ({ ...error, callId: callId(row.id, missing[at]?.index ?? 0) }))',
    [
      ['0', '(1)', TYPE],
      ['0', '(-1)', TYPE],
    ],
  ),
  ...of(
    'kernel/log/fold.ts',
    "outcomes.add(steps.some(({ calls }) => calls.some(isNamed)) ? 'duplicate' : 'orphan')",
    [["'orphan'", "''", OTHER_WORD]],
  ),
  ...of('kernel/context/plan.ts', 'const prior = held?.units[0] && before?.mark', [
    ['before?.mark', 'before.mark', TYPE],
  ]),
  ...of(
    'kernel/context/plan.ts',
    'if (cut && cut.from <= (opener ? 1 : 0) && mayExtend && !within?.isRead) {',
    [['1', '(2)', PORTIONS]],
  ),
  ...of(
    'kernel/context/receipt.ts',
    'if (from !== (window.opener ? 1 : 0) || unshown.length > 0 || loose.length > 0) {',
    [['from !== (window.opener ? 1 : 0) || unshown.length > 0 || loose.length > 0', 'true', SHORT_CUT]],
  ),
  ...of('kernel/context/shows.ts', 'if (part === undefined) return part', [['part', 'undefined', TYPE]]),
  ...of('kernel/context/cut.ts', 'let best = { from: newest, tokens: 0 }', [
    ['{ from: newest, tokens: 0 }', '({})', SET],
  ]),
  ...of(
    'kernel/context/keeper.ts',
    'if (newest !== kept[0]) kept = [newest, ...kept.filter((one) => one !== newest)].slice(0, count)',
    [
      ['newest !== kept[0]', 'true', SHORT_CUT],
      ['kept.filter((one) => one !== newest)', '(kept)', CACHE],
    ],
  ),
  ...of('kernel/context/cut.ts', 'let best = { from: newest, tokens: 0 }', [
    ['0', '(1)', SET],
    ['0', '(-1)', SET],
  ]),
  ...of(
    'kernel/context/window.ts',
    'return unit ? this.#shelf.unit(unit, shown, index === this.units.length - 1).tokens : 0',
    [['1', '(2)', 'A tail takes as many tokens.']],
  ),
  ...of('kernel/log/fold.ts', 'if (calls.length > 0) steps.push(unit)', [
    ['calls.length > 0', 'true', SHORT_CUT],
  ]),
  ...of('kernel/context/blocks.ts', 'ways.set(shown, made)', [['ways.set(shown, made)', '', CACHE]]),
  ...of('kernel/context/blocks.ts', 'callId: callId(step.id, joined[at]?.call.index ?? 0),', [
    ['0', '(1)', TYPE],
    ['0', '(-1)', TYPE],
    ['joined[at]?.call.index', 'joined[at].call.index', TYPE],
  ]),
  ...of('kernel/context/epoch.ts', 'if (emptied.length === 0) return false', [
    ['emptied.length === 0', 'false', SHORT_CUT],
  ]),
  ...of('kernel/context/plan.ts', 'const within = covering && cover?.within(covering, view, layout)', [
    ['cover?.within(covering, view, layout)', 'cover.within(covering, view, layout)', TYPE],
  ]),
  ...of('kernel/log/fold.ts', 'if (calls.length > 0) steps.push(unit)', [['0', '(-1)', SHORT_CUT]]),
  ...of('kernel/context/secret.ts', 'const last = results.at(-1)', [
    ['-1', '(1)', 'The epoch that stores a secret is its session’s first, and stores its head too.'],
  ]),
  ...of('kernel/context/epoch.ts', "readonly #rewound = keeper<'rewind' | 'undo' | undefined>(1)", [
    ['1', '(2)', CACHE],
    ['1', '(0)', CACHE],
  ]),
  ...of(
    'kernel/context/call.ts',
    "if (tail.length === 0 && last && last.role !== 'assistant') return undefined",
    [["tail.length === 0 && last && last.role !== 'assistant'", 'false', SHORT_CUT]],
  ),
]

function of(
  file: string,
  code: string,
  mutants: readonly (readonly [original: string, replacement: string, why: string])[],
): readonly Equivalent[] {
  return mutants.map(([original, replacement, why]) => ({
    file: `src/${file}`,
    code,
    original,
    replacement,
    why,
  }))
}
