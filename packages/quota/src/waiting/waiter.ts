import type { RefusedDecision } from '../decision/decision.ts'
import { runAsync } from '../engine/decide/store-call.ts'
import type { WaitOutcome, WaitRefusal } from '../engine/events.ts'
import type { Quota } from '../engine/quota.ts'
import type { HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import { refusedCalls } from '../engine/reservations/handle.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Counting } from '../policy/units.ts'
import { systemStopwatch } from '../time/clock.ts'
import type { Node } from '../time/heap.ts'
import type { Need } from './needs.ts'
import type { ParsedQueueOptions, WaitedReservation } from './options.ts'

/** How a request leaves the queue. */
export type End =
  | { readonly reservation: HeldReservation | RepeatedReservation }
  | { readonly refusal: WaitRefusal; readonly decision?: RefusedDecision | undefined }
  | { readonly error: unknown; readonly outcome?: WaitOutcome }

export function outcomeOf(how: End): WaitOutcome {
  if ('reservation' in how) return 'admitted'
  return 'refusal' in how ? how.refusal : (how.outcome ?? 'failed')
}

/** A waiter in the lane of one limit. */
export interface Place extends Node {
  readonly waiter: Waiter
}

/** An instant of the stopwatch: a lane (by its name) is tried again, or a waiter gives up. */
export interface Alarm extends Node {
  due: number
  readonly lane?: string
  readonly waiter?: Waiter
}

/** One request in the queue. */
export interface Waiter extends Node {
  readonly request: ReserveRequest
  readonly operation: string
  /** From the narrowest limit to the widest. */
  needs: readonly Need[]
  /** The subject's key in the first layer that isn't shared. */
  readonly key: string
  /** Its time by the stopwatch, minus the head start of its priority. It is fixed, so that no request waits forever. */
  readonly rank: number
  readonly cameAt: number
  /** When it came, as the number of a queue event. */
  readonly event: number
  readonly deadline: number
  readonly expectsGiveBacks: boolean
  readonly end: (how: End) => void
  /** Its positions in the lanes of its first needs. */
  readonly places: Place[]
  /** At its deadline. Set while it waits. */
  alarm?: Alarm
  /** Whether it waits for the store's reply. */
  isFlying: boolean
  isOver: boolean
  /** The last error of an unavailable store. */
  outage?: unknown
}

export function newWaiter(request: Omit<Waiter, 'at' | 'places' | 'alarm' | 'isFlying' | 'isOver' | 'outage'>): Waiter {
  return { ...request, at: -1, places: [], isFlying: false, isOver: false }
}

/** Whether the limits open after a waiter's deadline. */
export function opensTooLate(waiter: Waiter, { refusedBy, retryAfterMs }: RefusedDecision): boolean {
  if (waiter.expectsGiveBacks || refusedBy.kind === 'concurrency' || retryAfterMs === null) return false
  return systemStopwatch() + retryAfterMs > waiter.deadline
}

export function isBefore(one: Waiter, other: Waiter): boolean {
  return one.rank < other.rank || (one.rank === other.rank && one.event < other.event)
}

/** Counts who waits, in total and by the subjects' keys. */
export class Room {
  readonly #options: Pick<ParsedQueueOptions, 'maxWaiting' | 'maxWaitingPerSubject'>
  readonly #byKey = new Map<string, number>()
  #waiting = 0

  constructor(options: Pick<ParsedQueueOptions, 'maxWaiting' | 'maxWaitingPerSubject'>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting
  }

  /** Counts one more waiter. @returns whether there was room */
  enter(key: string): boolean {
    const { maxWaiting, maxWaitingPerSubject } = this.#options
    const ofKey = this.#byKey.get(key) ?? 0
    if (this.#waiting >= maxWaiting || ofKey >= maxWaitingPerSubject) return false
    this.#waiting++
    this.#byKey.set(key, ofKey + 1)
    return true
  }

  leave(key: string): void {
    this.#waiting--
    const left = this.#byKey.get(key)! - 1
    if (left === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, left)
  }
}

/** Used if it is unknown when a limit opens. */
const RETRY_MS = 1_000

/** Makes the result of a refusal. A request that never tried reads its limits. */
export async function refused(
  quota: Quota,
  request: ReserveRequest,
  { refusal: reason, decision: known }: { refusal: WaitRefusal; decision?: RefusedDecision | undefined },
): Promise<WaitedReservation<Counting>> {
  let decision = known
  if (decision === undefined && reason !== 'queue_full') {
    const peeked = await quota.peek(request).catch(() => undefined)
    if (peeked?.allowed === false) decision = peeked
  }
  const retryAfterMs = decision?.retryAfterMs ?? RETRY_MS
  return {
    status: 'refused',
    allowed: false,
    reason,
    decision,
    retryAfterMs,
    ...refusedCalls(runAsync, request.operation),
  }
}

export function closed(): QuotaError {
  return new QuotaError('quota_closed', 'the queue was closed while this request waited, or before')
}
