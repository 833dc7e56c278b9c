import type { Limit } from '../policy/policy.ts'
import { Heap } from '../time/heap.ts'
import type { Need } from './needs.ts'
import { type Alarm, isBefore, type Place, type Waiter } from './waiter.ts'

/** One of the limits that an attempt needs. */
interface Flight {
  readonly needs: readonly Need[]
  readonly at: number
  /** Whether it reads settings before it calls the store of the counters. */
  readonly isReading: boolean
}

const NO_FLIGHT: Flight = { needs: [], at: 0, isReading: false }

/** How long a lane is closed after a refusal. */
export interface Closing {
  /** Requests were refused that fit if at most this much is used. */
  readonly spare: number
  /** `undefined`: the time is unknown. */
  readonly waitMs?: number | undefined
  /** The number of the queue event. */
  readonly event: number
  /** How many lanes there are. */
  readonly lanes: number
}

/**
 * Who waits for one limit of one key, and what is known about that limit. A lane exists while a waiter is in it, or an
 * attempt that needs it is in flight.
 */
export class Lane {
  readonly name: string
  readonly isSlots: boolean
  readonly places: Heap<Place> = new Heap((a, b) => isBefore(a.waiter, b.waiter))
  readonly alarm: Alarm
  /** When the refusing limit opens, by the stopwatch, and when the first waiter tries again. */
  opensAt = 0
  retryAt = 0
  /** When it was last refused here, as the number of a queue event. */
  closedAt = 0
  /** When something was last freed here, as the number of a queue event. */
  freedAt = 0
  #refusedSpare = Number.NEGATIVE_INFINITY
  #flights = 0
  /** The total cost of attempts in flight. */
  #flyingCost = 0
  /** Attempts in flight that may be refused, their limit, and the tick of the event loop that sent them. */
  #unsure = 0
  #most = 1
  #turn = -1
  /** The last of these attempts. */
  #last: Flight = NO_FLIGHT
  /** How often something was freed since they were sent. */
  #freed = 0
  /** The certain rest if all attempts in flight are admitted, and the number of the limit that it is of. */
  #room = 0
  #roomLimit = 0
  #emptyTries = 0

  constructor(name: string, isSlots: boolean) {
    this.name = name
    this.isSlots = isSlots
    this.alarm = { at: -1, due: 0, lane: name }
  }

  get isIdle(): boolean {
    return this.places.size === 0 && this.#flights === 0
  }

  /**
   * Why a waiter can't try now. `flights`: replies in flight decide. `limit`: the limit is known to refuse it. `order`:
   * an earlier waiter is in the lane.
   */
  blocks(waiter: Waiter, at: number, now: number, turn: number): 'flights' | 'limit' | 'order' | undefined {
    if (now < this.retryAt && waiter.needs[at]!.spare <= this.#refusedSpare) return 'limit'
    const first = this.places.first?.waiter
    if (first !== undefined && first !== waiter && isBefore(first, waiter)) return 'order'
    return this.#unsure > 0 && !this.#mayFollow(waiter.needs, at, turn) ? 'flights' : undefined
  }

  /**
   * Whether another attempt can follow those in flight. Stores decide attempts that are sent together in order. If one
   * is refused, so is a later one that fits under the same or less use of the same limits, from this one to the widest. An
   * attempt that still reads settings calls the store later, so none can follow it.
   */
  #mayFollow(needs: readonly Need[], at: number, turn: number): boolean {
    if (this.#last.isReading) return false
    const before = this.#last.needs.slice(this.#last.at)
    const isSent = turn === this.#turn && this.#unsure < this.#most && before.length === needs.length - at
    return isSent && before.every(({ lane, spare }, i) => lane === needs[at + i]!.lane && spare >= needs[at + i]!.spare)
  }

  /** Whether there is so much room that an attempt can't be refused here. */
  isSafe({ cost, limit }: Need): boolean {
    return limit >= this.#roomLimit && this.#flyingCost + cost <= this.#room / FAIR_PART
  }

  /** @param isSure whether no limit can refuse it */
  sent(flight: Flight, isSure: boolean, turn: number, now: number): void {
    this.#flights++
    this.#flyingCost += flight.needs[flight.at]!.cost
    if (isSure) return
    if (this.#unsure === 0) {
      this.#turn = turn
      // One attempt shows whether anything came back before its time.
      this.#most = this.isSlots || now < this.opensAt ? Math.max(1, this.#freed) : FIRST_TRIES
      this.#freed = 0
    }
    this.#unsure++
    this.#last = flight
  }

  landed(cost: number, isSure: boolean): void {
    this.#flights--
    this.#flyingCost -= cost
    if (!isSure) this.#unsure--
  }

  /** @param remaining of the limit after an admission, which had this number of it */
  hasRoom(remaining: Limit, limit: Limit): void {
    this.#emptyTries = 0
    const room = numberOf(remaining) - this.#flyingCost
    const isAlone = this.#flights === 0
    this.#room = isAlone ? room : Math.min(this.#room, room)
    this.#roomLimit = isAlone ? numberOf(limit) : Math.max(this.#roomLimit, numberOf(limit))
  }

  close({ spare, waitMs, event, lanes }: Closing, now: number): void {
    this.#room = 0
    this.closedAt = event
    // A bucket admits a smaller request earlier, so a larger one says nothing about it.
    if (now < this.retryAt && spare < this.#refusedSpare) return
    this.#refusedSpare = spare
    this.opensAt = waitMs === undefined ? 0 : now + waitMs
    this.retryAt = now + Math.min(waitMs ?? this.#probeMs(), recheckMs(lanes))
    this.alarm.due = this.retryAt
  }

  /** Something was refunded. Replies in flight may not include it. */
  freed(event: number): void {
    this.freedAt = event
    this.#freed++
    this.#open()
  }

  /** What is known about the limit no longer holds. */
  reopen(): void {
    this.#room = 0
    this.#open()
  }

  #open(): void {
    this.opensAt = 0
    this.retryAt = 0
    this.#refusedSpare = Number.NEGATIVE_INFINITY
    this.#emptyTries = 0
  }

  /** 25 to 50 ms for ten attempts, then doubling up to a second. */
  #probeMs(): number {
    this.#emptyTries++
    const factor = 2 ** Math.max(0, this.#emptyTries - QUICK_TRIES)
    return Math.min(PROBE_MS * factor, MAX_PROBE_MS) * (0.5 + Math.random() / 2)
  }
}

function numberOf(limit: Limit): number {
  return limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : limit
}

const PROBE_MS = 50
const QUICK_TRIES = 10
const MAX_PROBE_MS = 1_000
/**
 * Other processes may give back tokens or raise limits. So the first waiter in a lane tries once a second. With more than
 * 100 lanes, they do so 100 times a second together.
 */
function recheckMs(lanes: number): number {
  return Math.min(Math.max(1_000, 10 * lanes), 60_000)
}

/** How many attempts to make if a window's remainder is unknown. */
const FIRST_TRIES = 8
/** One process takes this part of the remainder at a time, so that queues of other processes get their share. */
const FAIR_PART = 8

/** Numbers the ticks of the event loop in which something is sent. */
export class Turns {
  #turn = 0
  #isOpen = false

  /** The number of this tick, or of the next one in which something is sent. */
  get current(): number {
    return this.#turn
  }

  /** Returns one number for everything that is sent in this tick. */
  send(): number {
    if (!this.#isOpen) {
      this.#isOpen = true
      queueMicrotask(() => {
        this.#isOpen = false
        this.#turn++
      })
    }
    return this.#turn
  }
}
