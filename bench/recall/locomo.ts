import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RecallDocument } from '../../src/features/recall/terms.ts'

/** What one of two people said, as LoCoMo has it. */
export interface Turn {
  readonly conversation: string
  readonly session: number
  /** Unique in its conversation. */
  readonly dia_id: string
  readonly speaker: string
  readonly text: string
  /** Local time, without a zone. */
  readonly date: string
  readonly image_caption?: string
  /** Tokens that showing it costs. */
  readonly tokens: number
}

export interface Question {
  readonly id: string
  readonly conversation: string
  readonly question: string
  readonly answer?: string | number | null
  /** 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial. */
  readonly category: number
  readonly category_name: string
  /** `dia_id` of the turns that hold the answer. */
  readonly evidence: readonly string[]
}

export interface Fact {
  readonly conversation: string
  readonly fact: string
  readonly source_dia_ids: readonly string[]
}

export interface Locomo {
  readonly turns: readonly Turn[]
  /** Those with evidence. */
  readonly questions: readonly Question[]
  readonly facts: readonly Fact[]
}

const FILES = ['turns.jsonl', 'questions.jsonl', 'facts.jsonl'] as const

/** The folder's three files; `undefined` where it lacks one of them. */
export async function readLocomo(folder: string): Promise<Locomo | undefined> {
  const texts = await Promise.all(
    FILES.map((file) => readFile(join(folder, file), 'utf8').catch(() => undefined)),
  )
  const [turns, questions, facts] = texts
  if (turns === undefined || questions === undefined || facts === undefined) return undefined
  return {
    turns: linesOf<Turn>(turns),
    questions: linesOf<Question>(questions).filter(({ evidence }) => evidence.length > 0),
    facts: linesOf<Fact>(facts),
  }
}

/** Unique among all conversations. */
export const placeOf = (conversation: string, turn: string): string => `${conversation}|${turn}`

/** A turn as a message: the caption of its picture belongs to the text, its speaker is the name. */
export function documentOf(turn: Turn): RecallDocument {
  return {
    id: placeOf(turn.conversation, turn.dia_id),
    text: captioned(turn),
    role: 'user',
    name: turn.speaker,
    createdAt: Date.parse(`${turn.date}Z`),
  }
}

export function captioned({ text, image_caption: caption }: Turn): string {
  return caption === undefined ? text : `${text} ${caption}`
}

function linesOf<Row>(text: string): Row[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
