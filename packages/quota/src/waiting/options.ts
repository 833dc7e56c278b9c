import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import type { WaitRefusal } from '../engine/events.ts'
import type { EmptyReservation, HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { optional, wholeNumber, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import type { Counting, OneUnit } from '../policy/units.ts'

/** Options of a waiting queue. */
export interface WaitingQueueOptions {
  /**
   * The most requests that can wait. More are refused as `queue_full`.
   *
   * @default 10_000
   */
  readonly maxWaiting?: number | undefined
  /**
   * The most requests that can wait for one subject, by its key in the first layer that isn't shared.
   *
   * @default maxWaiting
   */
  readonly maxWaitingPerSubject?: number | undefined
  /**
   * How long requests without their own `maxWaitMs` wait, in milliseconds, 0 to 86_400_000.
   *
   * @default unlimited: as long as their callers, which leave by `signal`
   */
  readonly maxWaitMs?: number | undefined
  /**
   * The head start per step of priority, in milliseconds.
   *
   * @default 1_000
   */
  readonly headStartMs?: number | undefined
}

export type ParsedQueueOptions = Readonly<Record<Exclude<keyof WaitingQueueOptions, 'maxWaitMs'>, number>> &
  Pick<WaitingQueueOptions, 'maxWaitMs'>

/** How a request waits. */
export interface Waits {
  /**
   * How long to wait for admission, in milliseconds, 0 to 86_400_000. The work isn't included.
   *
   * @default the queue's `maxWaitMs`
   */
  readonly maxWaitMs?: number | undefined
  /**
   * A whole number, -10 to 10. Higher goes first: each step counts as one `headStartMs` earlier in the queue.
   *
   * @default 0
   */
  readonly priority?: number | undefined
  /**
   * Waits even if the limit opens too late, because reservations are often settled below their estimate.
   *
   * @default false: such a request is refused as `too_late`
   */
  readonly expectGiveBacks?: boolean | undefined
}

const MAX_WAIT_MS = 86_400_000
const MAX_PRIORITY = 10

/** Advice for options of other queues. */
const WORDS: Readonly<Record<string, string>> = {
  concurrency: 'slots are `concurrency` of the policy',
  maxConcurrent: 'slots are `concurrency` of the policy',
  minTime: 'the pace is a bucket of the policy',
  reservoir: 'a reservoir is a limit of the policy',
  intervalCap: 'write a limit of the policy',
  highWater: 'the longest queue is `maxWaiting`',
  maxQueueSize: 'the longest queue is `maxWaiting`',
  timeout: 'the longest wait is `maxWaitMs`; work is never timed out',
}

const parse = /* @__PURE__ */ optionsParser<ParsedQueueOptions>(
  'waitingQueue()',
  () => ({
    maxWaiting: withDefault(wholeNumber(0, 1_000_000), 10_000),
    maxWaitingPerSubject: withDefault(wholeNumber(1, 1_000_000), 1_000_000),
    maxWaitMs: optional(wholeNumber(0, MAX_WAIT_MS, 'milliseconds')),
    headStartMs: withDefault(wholeNumber(0, 3_600_000, 'milliseconds'), 1_000),
  }),
  { words: WORDS },
)

export function parseQueueOptions(options: unknown): ParsedQueueOptions {
  return parse(options)
}

/** @throws {QuotaError} `invalid_wait` */
export function checkWaits({ maxWaitMs = 0, priority = 0, expectGiveBacks = false }: Waits): void {
  requireWhole('maxWaitMs', maxWaitMs, [0, MAX_WAIT_MS])
  requireWhole('priority', priority, [-MAX_PRIORITY, MAX_PRIORITY])
  if (typeof expectGiveBacks === 'boolean') return
  throw new QuotaError('invalid_wait', `expectGiveBacks: expected true or false, got ${shown(expectGiveBacks)}`)
}

function requireWhole(name: string, value: unknown, [min, max]: readonly [number, number]): void {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return
  throw new QuotaError('invalid_wait', `${name}: expected a whole number from ${min} to ${max}, got ${shown(value)}`)
}

/** A request that can wait. With the default operation, `request`, it needs no name. */
export type WaitRequest<Operation extends string = string, C extends Counting = OneUnit> = Waits &
  ([Operation] extends ['request']
    ? Omit<ReserveRequest<Operation, C>, 'operation'> & { readonly operation?: Operation | undefined }
    : ReserveRequest<Operation, C>)

/** Why a request wasn't admitted. */
export interface WaitRefused<C extends Counting = OneUnit> {
  readonly status: 'refused'
  readonly allowed: false
  readonly reason: WaitRefusal
  /** The engine's refusal. Absent for `queue_full`, and if only the order of the queue kept the request waiting. */
  readonly decision?: RefusedDecision<C> | undefined
  /** When to try again, in milliseconds, at least 1. */
  readonly retryAfterMs: number
}

/** A reservation from a queue. A refused one has the reason, and nothing to settle. */
export type WaitedReservation<C extends Counting = OneUnit> =
  | HeldReservation<C>
  | RepeatedReservation<C>
  | (WaitRefused<C> & EmptyReservation<C>)

/** The value of the work, or why it didn't run. */
export type WaitedRun<T, C extends Counting = OneUnit> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | WaitRefused<C>
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }
