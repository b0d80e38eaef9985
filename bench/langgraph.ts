/**
 * A thread of LangGraph, turn by turn: what a turn adds to the database, in bytes and rows, and how
 * long it takes, beside LangGraph's own savers. A turn is a question, a call of a tool with its
 * result, and an answer, through `StateGraph`.
 *
 * Ours takes all the turns. A checkpoint of the others holds the whole thread, so that theirs
 * begins again before each figure with as many messages; what they wrote is counted after each
 * turn, and all but the newest checkpoint is then taken away.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import BetterSqlite from 'better-sqlite3'
import { PlimsollSaver } from '../src/bridges/langgraph/index.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { median, round } from './stats.ts'
import { temporaryFolder } from './stores/temporary.ts'
import { type Goal, goalTable, table } from './table.ts'

const OURS = 'PlimsollSaver, sqliteStore'
const PACKAGES = [
  '@langchain/langgraph',
  '@langchain/langgraph-checkpoint',
  '@langchain/langgraph-checkpoint-sqlite',
]
/** Turns that one figure is the mean of. */
const WINDOW = 10

/** What a saver has written so far. */
interface Size {
  readonly bytes: number
  readonly rows: number
}

interface Subject {
  readonly name: string
  readonly saver: BaseCheckpointSaver
  /** Whether each checkpoint of it holds all of the thread. */
  readonly isWhole: boolean
  /** Contract: what was written so far; called after each turn. */
  size(isAsked: boolean): Size
}

/** A turn, as the mean of {@link WINDOW} of them that end at `turn`. */
interface Row extends Size {
  readonly saver: string
  readonly turn: number
  /** Median. */
  readonly ms: number
}

interface LangGraphReport {
  readonly machine: Machine
  readonly rows: readonly Row[]
  /** Of the whole thread, for each saver, by the line through its figures. */
  readonly totals: Readonly<Record<string, Size>>
  readonly leftOut: readonly string[]
  readonly goals: readonly Goal[]
}

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const turns = quick ? [20, 100, 200] : [20, 500, 1_000, 2_000]
  const rows: Row[] = []
  const totals: Record<string, Size> = {}
  const leftOut: string[] = []
  for (const make of [overSqlite, overMemory, overTheirSqlite]) {
    let subject: Subject
    try {
      subject = make()
    } catch (error) {
      // Its database is native code, which not every machine has.
      leftOut.push(`left out, ${make.name}: ${(error as Error).message.split('\n')[0]}`)
      continue
    }
    progress(subject.name)
    const taken = await takeTurns(subject, turns)
    rows.push(...taken)
    totals[subject.name] = wholeOf(taken)
  }
  const ofOurs = rows.filter(({ saver }) => saver === OURS)
  const [early, late] = [ofOurs[0], ofOurs.at(-1)]
  const growth = (late?.bytes ?? 0) / (early?.bytes ?? 1)
  const report: LangGraphReport = {
    machine: machine(PACKAGES),
    rows,
    totals,
    leftOut,
    goals: [
      {
        goal: `a turn takes as many bytes at turn ${late?.turn} as at turn ${early?.turn}, within 5 %`,
        measured: `${round(growth)}`,
        holds: growth < 1.05,
      },
      {
        goal: 'and as many rows',
        measured: `${early?.rows} and ${late?.rows}`,
        holds: early?.rows === late?.rows,
      },
    ],
  }
  return { json: report, text: text(report) }
}

/** What a thread takes whose turns grow from figure to figure in a straight line. */
function wholeOf(rows: readonly Row[]): Size {
  let [bytes, count, before] = [0, 0, rows[0] as Row]
  for (const row of rows) {
    const turns = row === before ? row.turn : row.turn - before.turn
    bytes += (turns * (row.bytes + (row === before ? 0 : before.bytes))) / 2
    count += turns * row.rows
    before = row
  }
  return { bytes: Math.round(bytes), rows: count }
}

async function takeTurns({ name, saver, isWhole, size }: Subject, marks: readonly number[]) {
  const graph = graphOver(saver)
  const config = { configurable: { thread_id: 'thread' } }
  const rows: Row[] = []
  const times: number[] = []
  let before: Size = { bytes: 0, rows: 0 }
  const last = marks.at(-1) ?? 0
  for (let turn = 1; turn <= last; turn++) {
    const isMeasured = marks.some((mark) => turn > mark - WINDOW && turn <= mark)
    if (isWhole && !isMeasured) {
      if (marks.includes(turn + WINDOW)) {
        const messages = Array.from({ length: turn }, (_, at) => exchange(at + 1)).flat()
        await graph.updateState(config, { messages }, 'agent')
        before = size(true)
      }
      continue
    }
    const started = performance.now()
    await graph.invoke(
      { messages: [new HumanMessage({ id: `question-${turn}`, content: 'q'.repeat(100) })] },
      config,
    )
    times.push(performance.now() - started)
    const isStart = marks.includes(turn + WINDOW)
    const isEnd = marks.includes(turn)
    const total = size(isStart || isEnd)
    if (isStart) before = total
    if (isEnd)
      rows.push({
        saver: name,
        turn,
        bytes: Math.round((total.bytes - before.bytes) / WINDOW),
        rows: (total.rows - before.rows) / WINDOW,
        ms: round(median(times.slice(-WINDOW))),
      })
  }
  const { messages } = (await graph.getState(config)).values as { messages: readonly unknown[] }
  if (messages.length !== 4 * last) throw new Error(`${name}: ${messages.length} messages came back`)
  return rows
}

/** A question, a call and its result, and an answer. */
function exchange(turn: number): readonly BaseMessage[] {
  const tool_calls = [{ id: `call-${turn}`, name: 'search', args: { query: 'trains to Turin' } }]
  return [
    new HumanMessage({ id: `question-${turn}`, content: 'q'.repeat(100) }),
    new AIMessage({ id: `step-${turn}`, content: '', tool_calls }),
    new ToolMessage({ id: `result-${turn}`, tool_call_id: `call-${turn}`, content: 'r'.repeat(400) }),
    new AIMessage({ id: `answer-${turn}`, content: 'a'.repeat(200) }),
  ]
}

/** Says of each exchange what comes next. */
function graphOver(checkpointer: BaseCheckpointSaver) {
  const next = ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [exchange(Math.ceil(messages.length / 4))[messages.length % 4] as BaseMessage],
  })
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', next)
    .addNode('tools', next)
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) => (messages.length % 4 === 0 ? END : 'tools'))
    .addEdge('tools', 'agent')
    .compile({ checkpointer })
}

/** What is asked of a database here, of Node's own or of `better-sqlite3`. */
interface Database {
  exec(text: string): unknown
  prepare(text: string): { all(): unknown; get(): unknown }
}

/** Bytes of all columns, and rows, of the tables of a database. */
function sizeOf(database: Database): Size {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  let [bytes, rows] = [0, 0]
  for (const { name } of tables as { name: string }[]) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${name}')`).all() as {
      name: string
    }[]
    const lengths = columns.map(({ name }) => `coalesce(length(CAST("${name}" AS BLOB)), 0)`).join(' + ')
    const found = database
      .prepare(`SELECT count(*) AS rows, sum(${lengths}) AS bytes FROM "${name}"`)
      .get() as unknown as Size
    bytes += found.bytes ?? 0
    rows += found.rows
  }
  return { bytes, rows }
}

function overSqlite(): Subject {
  const path = join(temporaryFolder(), 'plimsoll.db')
  const store = sqliteStore({ path })
  let database: DatabaseSync | undefined
  return {
    name: OURS,
    isWhole: false,
    saver: new PlimsollSaver({ store, userId: 'ada' }) as unknown as BaseCheckpointSaver,
    size: (isAsked) => {
      if (!isAsked) return { bytes: 0, rows: 0 }
      database ??= new DatabaseSync(path, { readOnly: true })
      return sizeOf(database)
    },
  }
}

function overMemory(): Subject {
  const saver = new MemorySaver()
  let [bytes, rows] = [0, 0]
  return {
    name: 'MemorySaver',
    isWhole: true,
    saver: saver as unknown as BaseCheckpointSaver,
    size: () => {
      for (const namespaces of Object.values(saver.storage))
        for (const checkpoints of Object.values(namespaces)) {
          const ids = Object.keys(checkpoints).sort()
          for (const id of ids) {
            const [checkpoint, metadata] = checkpoints[id] as unknown as readonly [Uint8Array, Uint8Array]
            if (!counted.has(id)) {
              bytes += checkpoint.length + metadata.length
              rows++
            }
            counted.add(id)
            if (id !== ids.at(-1)) delete checkpoints[id]
          }
        }
      for (const [key, writes] of Object.entries(saver.writes)) {
        for (const [, , value] of Object.values(writes)) {
          bytes += value.length
          rows++
        }
        delete saver.writes[key]
      }
      return { bytes, rows }
    },
  }
}

const counted = new Set<string>()

function overTheirSqlite(): Subject {
  // The copy that comes with it has to be built here; this one brings what was built for Node 24.
  const db = new BetterSqlite(join(temporaryFolder(), 'theirs.db'))
  const saver = new SqliteSaver(db as never)
  let [bytes, rows] = [0, 0]
  let kept: Size = { bytes: 0, rows: 0 }
  return {
    name: 'SqliteSaver',
    isWhole: true,
    saver: saver as unknown as BaseCheckpointSaver,
    size: () => {
      const now = sizeOf(db)
      bytes += now.bytes - kept.bytes
      rows += now.rows - kept.rows
      db.exec('DELETE FROM writes')
      db.exec('DELETE FROM checkpoints WHERE checkpoint_id < (SELECT max(checkpoint_id) FROM checkpoints)')
      kept = sizeOf(db)
      return { bytes, rows }
    },
  }
}

function text({ machine, rows, totals, leftOut, goals }: LangGraphReport): string {
  const turns = table([
    ['saver', 'turn', 'bytes a turn', 'rows', 'ms'],
    ...rows.map(({ saver, turn, bytes, rows, ms }) => [saver, `${turn}`, `${bytes}`, `${rows}`, `${ms}`]),
  ])
  const whole = table([
    ['the whole thread', 'MB', 'rows'],
    ...Object.entries(totals).map(([name, { bytes, rows }]) => [name, `${round(bytes / 1e6)}`, `${rows}`]),
  ])
  return [machineLine(machine), turns, whole, ...leftOut, `Goals\n${goalTable(goals)}`].join('\n')
}
