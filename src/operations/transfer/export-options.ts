import { TRANSFER_PARTS, type TransferPart } from '../../ports/transfer.ts'
import { checkOneOf } from '../../text/check-value.ts'
import { checkOptions, invalid } from '../../text/json.ts'

export interface ExportOptions {
  /** Default: all. See `docs/export.md` for what some of them alone can restore. */
  readonly parts?: readonly TransferPart[]
  /** `jsonl`, which can be imported again, or `markdown`, for reading. Default `jsonl`. */
  readonly format?: 'jsonl' | 'markdown'
}

export type CheckedExport = Required<ExportOptions>

/** @throws ERR_INVALID_ARGUMENT */
export function checkExport(options: unknown = {}): CheckedExport {
  checkOptions('exportFrom', 'options', options, ['parts', 'format'])
  const { format = 'jsonl', parts } = options as ExportOptions
  checkOneOf('export', 'format', format, ['jsonl', 'markdown'])
  return { format, parts: checkParts('export', parts) }
}

/** Parts in their own order, each once. @throws ERR_INVALID_ARGUMENT */
export function checkParts(operation: string, parts: unknown = TRANSFER_PARTS): readonly TransferPart[] {
  const names: readonly unknown[] = Array.isArray(parts) ? parts : []
  const isKnown = names.every((one) => TRANSFER_PARTS.includes(one as TransferPart))
  if (names.length === 0 || !isKnown)
    throw invalid(operation, 'parts', `must be a list of ${TRANSFER_PARTS.join(', ')}`)
  return TRANSFER_PARTS.filter((part) => names.includes(part))
}
