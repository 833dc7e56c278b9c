import type { Counting, RefusedDecision } from '@scoregw/quota'
import { ofUnit } from '@scoregw/quota/internal'
import { type Unit, unitName } from '../amounts.ts'
import { Buckets } from './buckets.ts'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** A limit, and what it refused. */
interface LimitTally {
  readonly name: string
  readonly unit: string
  readonly limit: number
  refusals: number
  /** Subjects that it refused at least once. */
  readonly subjects: Set<number>
  readonly firstAt: number
  lastAt: number
}

/** What happened to one subject, or to one operation. */
interface Count {
  requests: number
  refused: number
  firstRefusedAt: number | undefined
}

/** Counts the results of a replay. */
export class Tally {
  readonly buckets: Buckets
  /** The indexes of the refused requests. */
  readonly refusedAt: Set<number> = new Set()
  /** By name. */
  readonly limits: Map<string, LimitTally> = new Map()
  /** By their indexes in the log. */
  readonly bySubject: readonly Count[]
  readonly byOperation: readonly Count[]
  readonly log: EventLog
  /** The units that the policy counts. */
  readonly units: readonly Unit[]
  requests = 0
  refused = 0
  /** Requests that the policy can't decide: it lacks the operation, or the line the subject's key. */
  undecided = 0
  /** Amounts in the order of the units. */
  readonly charged: number[]
  readonly refusedCosts: number[]
  /** Refusals that waiting cannot help, because the limit is below the cost. */
  hopeless = 0

  constructor(log: EventLog, units: readonly Unit[]) {
    this.log = log
    this.units = units
    this.charged = units.map(() => 0)
    this.refusedCosts = units.map(() => 0)
    this.buckets = new Buckets(log.events[0]?.at ?? 0, log.events.at(-1)?.at ?? 0)
    const none = (): Count => ({ requests: 0, refused: 0, firstRefusedAt: undefined })
    this.bySubject = log.subjects.map(none)
    this.byOperation = log.operations.map(none)
  }

  admitted(event: LoggedEvent, cost: Counting['amount']): void {
    this.#count(event)
    if (!event.isRefunded) this.#add(this.charged, cost)
    this.buckets.add(event.at, false)
  }

  refusal(event: LoggedEvent, decision: RefusedDecision<Counting>, index: number): void {
    this.#count(event)
    this.refused++
    this.#add(this.refusedCosts, decision.cost)
    if (!decision.retryable) this.hopeless++
    this.refusedAt.add(index)
    for (const count of this.#countsOf(event)) {
      count.refused++
      count.firstRefusedAt ??= event.at
    }
    this.buckets.add(event.at, true)
    this.#ofLimit(decision, event.subject)
  }

  #add(sums: number[], cost: Counting['amount']): void {
    for (const [u, unit] of this.units.entries()) sums[u]! += ofUnit(cost, unitName(unit))
  }

  #count(event: LoggedEvent): void {
    this.requests++
    for (const count of this.#countsOf(event)) count.requests++
  }

  #countsOf({ subject, operation }: LoggedEvent): readonly Count[] {
    return [this.bySubject[subject], this.byOperation[operation]].flatMap((count) => count ?? [])
  }

  #ofLimit({ refusedBy: { name, unit, limit }, now }: RefusedDecision<Counting>, subject: number): void {
    const known = this.limits.get(name)
    const tally = known ?? { name, unit, limit, refusals: 0, subjects: new Set(), firstAt: now, lastAt: now }
    this.limits.set(name, tally)
    tally.refusals++
    tally.lastAt = now
    tally.subjects.add(subject)
  }
}
