import type { RefusedDecision } from '../decision/decision.ts'
import { runAsync } from '../engine/decide/store-call.ts'
import type { WaitOutcome, WaitRefusal } from '../engine/events.ts'
import type { Quota } from '../engine/quota.ts'
import type { HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import { refusedCalls } from '../engine/reservations/handle.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Counting } from '../policy/units.ts'
import { systemStopwatch } from '../time/clock.ts'
import type { Node } from './heap.ts'
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

/** A new request. */
type WaiterOf = Pick<
  Waiter,
  'request' | 'operation' | 'needs' | 'key' | 'rank' | 'cameAt' | 'event' | 'deadline' | 'expectsGiveBacks' | 'end'
>

/** One request in the queue. */
export class Waiter implements Node {
  at = -1
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
  readonly alarm: Alarm
  /** Its positions in the lanes of its first needs. */
  readonly places: Place[] = []
  isWaiting = false
  /** Whether it waits for the store's reply. */
  isFlying = false
  isOver = false
  /** The last error of an unavailable store. */
  outage: unknown
  readonly #number = count++

  constructor(of: WaiterOf) {
    this.request = of.request
    this.operation = of.operation
    this.needs = of.needs
    this.key = of.key
    this.rank = of.rank
    this.cameAt = of.cameAt
    this.event = of.event
    this.deadline = of.deadline
    this.expectsGiveBacks = of.expectsGiveBacks
    this.end = of.end
    this.alarm = { at: -1, due: of.deadline, waiter: this }
  }

  /** Whether the limits open after its deadline. */
  isTooLateFor({ refusedBy, retryAfterMs }: RefusedDecision): boolean {
    if (this.expectsGiveBacks || refusedBy.kind === 'concurrency' || retryAfterMs === null) return false
    return systemStopwatch() + retryAfterMs > this.deadline
  }

  isBefore(other: Waiter): boolean {
    return this.rank < other.rank || (this.rank === other.rank && this.#number < other.#number)
  }
}

let count = 0

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
