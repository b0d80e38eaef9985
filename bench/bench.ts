import type { Picture } from './picture/bars.ts'

export interface BenchOptions {
  /** Fewer sizes, shorter cells, fewer histories. */
  readonly quick: boolean
  /**
   * Folder with recordings, for the benches that replay some; with LoCoMo's files, for that of
   * recall.
   */
  readonly data?: string
  /** Folder with recordings, for the bench of recall. */
  readonly transcripts?: string
  /** File that the bench of recall writes its rankings to, and that of the picture its picture. */
  readonly out?: string
  /** Another checkout, installed, that the bench of the edge compares with. */
  readonly against?: string
  /** Says how far the bench is, away from the report. */
  readonly progress: (line: string) => void
}

export interface BenchReport {
  /** One object with everything that was measured. */
  readonly json: object
  /** The same, to read. */
  readonly text: string
  /** Pictures for docs/benchmarks.md. */
  readonly plots?: readonly Picture[]
}

export type Bench = (options: BenchOptions) => Promise<BenchReport>
