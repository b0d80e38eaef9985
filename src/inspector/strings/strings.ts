import type { OmitReason, Unverified } from '../../ports/context.ts'
import type { Trust } from '../../ports/message.ts'
import type { DiffCause } from '../../render/diff.ts'
import type { RequestCause } from '../../replay/causes.ts'
import type { Racer } from '../../replay/race.ts'
import type { Change } from '../model/compare.ts'
import type { LeftOut, Section } from '../model/shown.ts'

/** All words of the inspector in one language. Numbers come as text, formatted for `locale`. */
export interface Strings {
  /** BCP 47: how numbers are written. */
  readonly locale: string
  readonly title: string
  readonly open: string
  readonly paste: string
  readonly sample: string
  readonly close: string
  readonly cancel: string
  readonly invitation: string
  readonly shapes: string
  readonly stays: string
  readonly dropHere: string
  readonly pasteLabel: string
  readonly pasteDone: string
  readonly pastedName: string
  readonly sampleName: string
  readonly line: string
  readonly lineUnit: string
  readonly reading: (name: string, percent: string) => string
  readonly racing: (done: string, of: string) => string
  readonly shown: (calls: string) => string
  readonly cancelled: string
  /** A service gave no answer. */
  readonly cutOff: string
  /** There is no such session, or not any more. */
  readonly gone: string
  readonly failed: (reason: string) => string
  readonly unreadable: (count: string) => string
  readonly unreadableLine: (line: string, reason: string) => string
  readonly more: (count: string) => string
  readonly conversation: string
  readonly conversationOption: (name: string, messages: string) => string
  /** After a number. */
  readonly ofAll: (count: string) => string
  readonly empty: string
  readonly timeline: string
  /** What a timeline of one call shows. */
  readonly single: (share: string) => string
  readonly call: string
  readonly callOf: (number: string, of: string) => string
  readonly callValue: (number: string, of: string, used: string, cap: string, cause: string) => string
  readonly nextCall: string
  readonly previous: string
  readonly next: string
  readonly answers: string
  readonly used: (used: string, cap: string, percent: string) => string
  readonly usedAlone: (used: string) => string
  readonly refusedCall: (reason: string) => string
  readonly refusedFloor: (floor: string) => string
  readonly waiting: string
  readonly estimate: string
  readonly shares: string
  readonly verified: string
  /** The same, of one whose tail is in it, or that had none. */
  readonly verifiedWhole: string
  readonly unverified: { readonly [reason in Unverified]: string }
  readonly legend: string
  readonly overLine: string
  /** Before the most tokens that it is where the drawing ends below it. */
  readonly above: string
  readonly newEpoch: string
  readonly sections: Readonly<Record<Section, string>>
  /** Heads the meanings of words, which follow. */
  readonly explain: string
  readonly explained: Readonly<Record<Section | 'line' | 'floor' | 'margin' | 'epoch', string>>
  readonly epoch: string
  readonly epochValue: (place: string, cause: string) => string
  readonly epochCauses: Readonly<Record<string, string>>
  readonly prefix: string
  readonly cost: string
  readonly costUnit: string
  readonly against: Readonly<Record<Exclude<Racer, 'plimsoll'>, string>>
  /** After a share: of what another policy costs. */
  readonly ofCost: (cost: string) => string
  /** After the difference: than what another policy costs. A share above 100 % misleads. */
  readonly moreThanCost: (cost: string) => string
  readonly floor: string
  /** Beside the floor, where nothing of the call can give way. */
  readonly floorAll: string
  readonly margin: string
  readonly tabs: Readonly<Record<'request' | 'left' | 'diff', string>>
  readonly requestHint: string
  readonly requestLabel: string
  readonly toolCall: (name: string) => string
  readonly toolResult: (name: string) => string
  /** Of a result that says of itself that it is an error. */
  readonly toolError: (name: string) => string
  /** Of a long text. */
  readonly showAll: string
  /** Opens the bytes of what is shown for people. */
  readonly asSent: string
  readonly stretch: {
    readonly record: string
    readonly rule: string
    readonly tokens: string
    readonly trust: string
    readonly section: string
    readonly place: string
    readonly none: string
    readonly pick: string
  }
  readonly trust: Readonly<Record<Trust, string>>
  /** What a tab without anything in it says: why, and what fills it. */
  readonly requestRefused: string
  readonly requestUnsaid: string
  readonly nothingLeft: string
  readonly leftUnknown: string
  readonly reasons: Readonly<Record<OmitReason | LeftOut['reason'], string>>
  readonly leftCount: (count: string) => string
  readonly leftTokens: (tokens: string) => string
  readonly range: (from: string, to: string) => string
  readonly compareWith: string
  readonly compareHint: string
  readonly compareFirst: string
  readonly compareOnly: string
  readonly compareSame: string
  readonly compareNothing: string
  readonly firstByte: (byte: string) => string
  readonly noByte: string
  readonly causes: Readonly<Record<DiffCause | RequestCause, string>>
  readonly before: string
  readonly after: string
  readonly paid: Readonly<Record<'shared' | 'rebilled' | 'added', string>>
  readonly tokens: (count: string) => string
  readonly bytes: (count: string) => string
  readonly changes: Readonly<Record<Change, string>>
  readonly changesLabel: string
  readonly sameBefore: (count: string) => string
  readonly race: string
  readonly raceNote: string
  readonly racers: Readonly<Record<Racer, string>>
  /** After the cost: a call, and its share of everything's. */
  readonly aCall: (share: string) => string
  readonly raceOver: (count: string, of: string) => string
  readonly raceUnder: string
  readonly raceRefused: (count: string) => string
  readonly raceHit: (share: string) => string
  /** `conversation` is empty where there is only one. */
  readonly raceBreak: (call: string, conversation: string, byte: string, path: string) => string
  readonly raceBreaks: (count: string) => string
  readonly raceNoBreak: string
  readonly raceSame: string
}
