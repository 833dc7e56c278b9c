import type { RefusedDecision } from '../decision/decision.ts'
import type { WaitOutcome, WaitRefusal } from '../engine/events.ts'
import type { HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import { systemStopwatch } from '../time/clock.ts'
import type { Node } from './heap.ts'
import type { Need } from './needs.ts'

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
export type WaiterOf = Pick<
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
