import { type AdmittedDecision, type Decision, listedLimits, type RefusedDecision } from '../decision/decision.ts'
import type { Freed } from '../engine/events.ts'
import type { EngineDoor, Quota } from '../engine/quota.ts'
import type { Reservation } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { isObject } from '../options/checks.ts'
import { isPromiseLike, onAbort } from '../options/promise.ts'
import type { Counting } from '../policy/units.ts'
import { systemStopwatch } from '../time/clock.ts'
import { Alarms, Heap } from '../time/heap.ts'
import { type Closing, Lane, Turns } from './lane.ts'
import { type Need, Needs } from './needs.ts'
import { checkWaits, type ParsedQueueOptions, type WaitedReservation, type WaitRequest } from './options.ts'
import {
  type Alarm,
  closed,
  type End,
  isBefore,
  newWaiter,
  opensTooLate,
  outcomeOf,
  Room,
  refused,
  type Waiter,
} from './waiter.ts'

type Answered = WaitedReservation<Counting>

/**
 * The lanes of an engine's limits, and the waiters in them. A waiter is in the lane of the limit that refuses it, and
 * in those of all narrower limits that it needs. So no later request takes what it needs there. No waiter tries while
 * an earlier one is in a lane that both need.
 */
export class Lanes {
  readonly #quota: Quota
  readonly #door: EngineDoor
  readonly #options: ParsedQueueOptions
  readonly #needs: Needs
  readonly #forget: () => void
  readonly #lanes = new Map<string, Lane>()
  readonly #alarms: Alarms<Alarm> = new Alarms((due) => this.#ring(due))
  /** Waiters that may have become first in all their lanes. */
  readonly #ready: Heap<Waiter> = new Heap(isBefore)
  readonly #all = new Set<Waiter>()
  readonly #room: Room
  readonly #turns = new Turns()
  readonly #off: readonly (() => void)[]
  /** Counts arrivals, refusals, refunds and changes. */
  #events = 0
  #changedAt = 0
  #isDraining = false
  #isClosed = false

  /** @param forget called when the queue closes */
  constructor(quota: Quota, door: EngineDoor, options: ParsedQueueOptions, forget: () => void) {
    this.#quota = quota
    this.#door = door
    this.#options = options
    this.#room = new Room(options)
    this.#needs = new Needs(quota.policy)
    this.#forget = forget
    this.#off = [
      quota.on('freed', (freed) => this.#freed(freed)),
      quota.on('settings', () => this.#changed()),
      quota.on('closed', () => this.close()),
    ]
  }

  get size(): number {
    return this.#all.size
  }

  /** Adds a request to the queue. Settles when the request leaves. */
  enter(given: WaitRequest<string, Counting>): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed()
      const asked = Object(given) as typeof given
      const { maxWaitMs = this.#options.maxWaitMs, priority = 0, expectGiveBacks = false, ...rest } = asked
      const demand = this.#door.demand(isObject(given) ? rest : given)
      checkWaits({ maxWaitMs, priority, expectGiveBacks })
      const { signal, ...request } = rest
      signal?.throwIfAborted()
      const cameAt = systemStopwatch()
      const leave = (): void => {
        this.#end(waiter, { error: signal!.reason, outcome: 'aborted' })
        this.#drain()
      }
      const waiter: Waiter = newWaiter({
        request,
        operation: demand.operation,
        needs: this.#needs.of(demand),
        key: this.#needs.key(demand.subject),
        cameAt,
        event: ++this.#events,
        rank: cameAt - priority * this.#options.headStartMs,
        deadline: cameAt + (maxWaitMs ?? Number.POSITIVE_INFINITY),
        expectsGiveBacks: expectGiveBacks,
        end: (how) => {
          stopListening?.()
          if ('error' in how) reject(how.error as Error)
          else if ('reservation' in how) resolve(how.reservation)
          else resolve(refused(this.#quota, request, how))
        },
      })
      const stopListening = signal && onAbort(signal, leave)
      this.#all.add(waiter)
      this.#ready.put(waiter)
      this.#drain()
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forget()
    for (const off of this.#off) off()
    for (const waiter of this.#all) this.#end(waiter, { error: closed(), outcome: 'closed' })
    while (this.#ready.pop() !== undefined);
    for (const lane of this.#lanes.values()) this.#alarms.remove(lane.alarm)
    this.#alarms.start()
  }

  /** Handles all waiters that may try, in order. */
  #drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    for (let waiter = this.#ready.pop(); waiter !== undefined; waiter = this.#ready.pop()) this.#consider(waiter)
    this.#isDraining = false
    this.#alarms.start()
  }

  #consider(waiter: Waiter): void {
    if (waiter.isOver || waiter.isFlying) return
    const blocked = this.#blocked(waiter)
    if (blocked === undefined) this.#try(waiter)
    else if (blocked.isTooLate) this.#tooLate(waiter, blocked.upTo)
    else this.#stand(waiter, blocked.upTo)
  }

  /** Refuses a waiter. If it came after the limit's last reply, it reads first: tokens may have been given back elsewhere. */
  #tooLate(waiter: Waiter, at: number): void {
    if (this.#laneOf(waiter.needs[at]!).closedAt > waiter.event) {
      this.#end(waiter, { refusal: 'too_late' })
      return
    }
    try {
      const decision = this.#door.peek(waiter.request)
      if (isPromiseLike(decision)) this.#read(waiter, at, decision)
      else this.#sawAgain(waiter, at, decision)
    } catch {
      this.#sawAgain(waiter, at)
    }
  }

  /** Waits for a read. Meanwhile the waiter keeps its place. */
  #read(waiter: Waiter, at: number, answer: PromiseLike<Decision>): void {
    waiter.isFlying = true
    this.#place(waiter, at)
    const land = (decision?: Decision): void => {
      waiter.isFlying = false
      if (!waiter.isOver) this.#sawAgain(waiter, at, decision)
      this.#drain()
    }
    answer.then(land, () => land())
  }

  /** @param decision what the limits say now; without it, an attempt finds out */
  #sawAgain(waiter: Waiter, at: number, decision?: Decision): void {
    if (decision?.allowed === false && opensTooLate(waiter, decision)) {
      this.#end(waiter, { refusal: 'too_late', decision })
      return
    }
    const lane = this.#laneOf(waiter.needs[at]!)
    lane.reopen()
    this.#wakeFirst(lane)
    this.#ready.put(waiter)
  }

  /** Returns why and up to which limit a waiter must wait; `undefined`: it may try. */
  #blocked(waiter: Waiter): { readonly upTo: number; readonly isTooLate: boolean } | undefined {
    const now = systemStopwatch()
    const { needs, deadline, expectsGiveBacks } = waiter
    for (let at = 0; at < needs.length; at++) {
      const lane = this.#lanes.get(needs[at]!.lane)
      const reason = lane?.blocks(waiter, at, now, this.#turns.current)
      // Until replies in flight name the refusing limit, it keeps its position in all lanes.
      if (reason === 'flights') return { upTo: needs.length - 1, isTooLate: false }
      const isTooLate = reason === 'limit' && lane!.opensAt > deadline && !expectsGiveBacks
      if (reason !== undefined) return { upTo: at, isTooLate }
    }
    return undefined
  }

  /** Puts a waiter in the lanes up to one of its needs, and removes it from the wider ones. */
  #stand(waiter: Waiter, upTo: number): void {
    if (waiter.alarm === undefined && !this.#mayWait(waiter)) return
    this.#place(waiter, upTo)
    this.#leave(waiter, upTo + 1)
  }

  #place(waiter: Waiter, upTo: number): void {
    const { places, needs } = waiter
    for (let at = places.length; at <= upTo; at++) {
      const place = { at: -1, waiter }
      places.push(place)
      this.#laneOf(needs[at]!).places.put(place)
    }
  }

  #mayWait(waiter: Waiter): boolean {
    if (!this.#room.enter(waiter.key)) {
      this.#end(waiter, { refusal: 'queue_full' })
      return false
    }
    waiter.alarm = { at: -1, due: waiter.deadline, waiter }
    this.#alarms.put(waiter.alarm)
    this.#door.began({ operation: waiter.operation, size: this.#room.size })
    return true
  }

  /** Removes a waiter from its lanes, from one on. */
  #leave({ places, needs }: Waiter, from: number): void {
    while (places.length > from) {
      const lane = this.#laneOf(needs[places.length - 1]!)
      lane.places.remove(places.pop()!)
      this.#wakeFirst(lane)
    }
  }

  #try(waiter: Waiter): void {
    try {
      const isReading = !this.#quota.sync && !this.#door.demand(waiter.request).hasSubjectSettings
      const answer = this.#door.attempt(waiter.request)
      if (isPromiseLike(answer)) this.#fly(waiter, answer, isReading)
      else this.#answered(waiter, answer, false)
    } catch (error) {
      this.#failed(waiter, error)
    }
  }

  #fly(waiter: Waiter, answer: PromiseLike<Reservation>, isReading: boolean): void {
    waiter.isFlying = true
    const sentAt = this.#events
    const turn = this.#turns.send()
    const { needs } = waiter
    const lanes = needs.map((need) => this.#laneOf(need))
    const isSure = lanes.every((lane, at) => lane.isSafe(needs[at]!))
    for (const [at, lane] of lanes.entries()) lane.sent({ needs, at, isReading }, isSure, turn, systemStopwatch())
    this.#leave(waiter, 0)
    const land = (answered: (isOutdated: boolean) => void): void => {
      waiter.isFlying = false
      for (const [at, lane] of lanes.entries()) lane.landed(needs[at]!.cost, isSure)
      answered(this.#changedAt > sentAt || lanes.some(({ freedAt }) => freedAt > sentAt))
      for (const lane of lanes) this.#wakeFirst(lane)
      this.#drain()
    }
    answer.then(
      (reservation) =>
        land((isOutdated) => {
          if (reservation.status === 'reserved') this.#learn(waiter, reservation.decision)
          this.#answered(waiter, reservation, isOutdated)
        }),
      (error: unknown) => land(() => this.#failed(waiter, error)),
    )
  }

  /** @param isOutdated whether something was freed or changed while the reply was in flight */
  #answered(waiter: Waiter, reservation: Reservation, isOutdated: boolean): void {
    if (waiter.isOver) {
      // The caller has left.
      reservation.cancel().catch(() => undefined)
      return
    }
    if (reservation.status === 'refused') this.#refusedBy(waiter, reservation.decision, isOutdated)
    else this.#end(waiter, { reservation })
  }

  #refusedBy(waiter: Waiter, decision: RefusedDecision, isOutdated: boolean): void {
    const { refusedBy, retryable, retryAfterMs, subject } = decision
    const { deadline, needs } = waiter
    waiter.outage = undefined
    const waitMs = refusedBy.kind === 'concurrency' ? undefined : (retryAfterMs ?? undefined)
    const name = this.#needs.lane(refusedBy.name, subject)
    const at = needs.findIndex(({ lane }) => lane === name)
    if (!retryable) this.#end(waiter, { refusal: 'too_large', decision })
    else if (systemStopwatch() >= deadline || needs.length === 0) this.#end(waiter, { refusal: 'timeout', decision })
    else if (isOutdated) this.#again(waiter)
    else if (opensTooLate(waiter, decision)) this.#end(waiter, { refusal: 'too_late', decision })
    else this.#closeAt(waiter, at === -1 ? needs.length - 1 : at, { waitMs })
  }

  #failed(waiter: Waiter, error: unknown): void {
    const isOutage = error instanceof QuotaError && error.code === 'quota_unavailable'
    const isOver = systemStopwatch() >= waiter.deadline || waiter.needs.length === 0
    if (isOutage && !isOver && !waiter.isOver) {
      waiter.outage = error
      // All requests that need the widest limit wait with this one.
      this.#closeAt(waiter, waiter.needs.length - 1, { spare: Number.POSITIVE_INFINITY })
    } else {
      this.#end(waiter, { error })
    }
  }

  /** Keeps a waiter, and closes one of its lanes. */
  #closeAt(waiter: Waiter, at: number, { spare, waitMs }: Partial<Closing>): void {
    this.#stand(waiter, at)
    if (waiter.isOver) return
    const need = waiter.needs[at]!
    const lane = this.#laneOf(need)
    const closing = { spare: spare ?? need.spare, waitMs, event: ++this.#events, lanes: this.#lanes.size }
    lane.close(closing, systemStopwatch())
    this.#alarms.put(lane.alarm)
  }

  /** Handles a waiter again, with the current prices. */
  #again(waiter: Waiter): void {
    try {
      const needs = this.#needs.of(this.#door.demand(waiter.request))
      this.#leave(waiter, 0)
      waiter.needs = needs
      this.#ready.put(waiter)
    } catch (error) {
      this.#end(waiter, { error })
    }
  }

  /** Learns from an admission about limits that others wait for. */
  #learn({ needs }: Waiter, { subject, limits }: AdmittedDecision): void {
    if (!needs.some(({ lane }) => this.#lanes.get(lane)?.isIdle === false)) return
    for (const { name, remaining, limit, burst = limit } of listedLimits(limits)) {
      const lane = this.#lanes.get(this.#needs.lane(name, subject) ?? '')
      if (remaining !== null) lane?.hasRoom(remaining, burst)
    }
  }

  #end(waiter: Waiter, how: End): void {
    if (waiter.isOver) return
    waiter.isOver = true
    this.#all.delete(waiter)
    this.#ready.remove(waiter)
    this.#leave(waiter, 0)
    const { alarm, operation } = waiter
    if (alarm !== undefined) {
      this.#alarms.remove(alarm)
      this.#room.leave(waiter.key)
    }
    const waitedMs = systemStopwatch() - waiter.cameAt
    if (alarm !== undefined || 'refusal' in how)
      this.#door.ended({ operation, outcome: outcomeOf(how), waitedMs, size: this.#room.size })
    waiter.end(how)
  }

  #freed({ subject }: Freed): void {
    if (this.#all.size === 0) return
    const event = ++this.#events
    const names = subject === undefined ? this.#lanes.keys() : this.#needs.lanesOf(subject)
    for (const name of [...names]) {
      const lane = this.#lanes.get(name)
      if (lane === undefined) continue
      lane.freed(event)
      this.#wakeFirst(lane)
    }
    this.#drain()
  }

  /** Changed settings may change prices, and so the limits that requests need. */
  #changed(): void {
    this.#changedAt = ++this.#events
    for (const lane of this.#lanes.values()) lane.reopen()
    for (const waiter of this.#all) if (!waiter.isFlying) this.#again(waiter)
    this.#drain()
  }

  /** Handles the first waiter of a lane. Removes a lane that isn't used. */
  #wakeFirst(lane: Lane): void {
    const first = lane.places.first?.waiter
    if (first !== undefined) {
      this.#ready.put(first)
    } else if (lane.isIdle) {
      this.#lanes.delete(lane.name)
      this.#alarms.remove(lane.alarm)
    }
  }

  #laneOf({ lane: name, isSlots }: Need): Lane {
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    const lane = new Lane(name, isSlots)
    this.#lanes.set(name, lane)
    return lane
  }

  #ring(due: readonly Alarm[]): void {
    for (const { lane: name = '', waiter } of due) {
      const lane = this.#lanes.get(name)
      if (lane !== undefined) this.#wakeFirst(lane)
      // At the deadline, an attempt in flight decides.
      if (waiter !== undefined && !waiter.isFlying)
        this.#end(waiter, waiter.outage === undefined ? { refusal: 'timeout' } : { error: waiter.outage })
    }
    this.#drain()
  }
}
