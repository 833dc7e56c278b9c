import type { Counting, LimitKind, RefusedDecision, Subject, Violation } from '@scoregw/quota'
import { ofUnit } from '@scoregw/quota/store'
import { Buckets } from './buckets.ts'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** Identifies a limit. */
export interface LimitName {
  readonly layer: string
  readonly category: string
  readonly window: string
  /** The unit, for policies with several units. */
  readonly unit?: string | undefined
}

interface LimitTally extends LimitName {
  readonly kind: LimitKind
  readonly limit: number
  refusals: number
  /** How many subjects it refused at least once. */
  subjects: number
  /** Whether it refused each subject, one bit per subject. */
  readonly hasRefused: Uint8Array
  readonly firstAt: number
  lastAt: number
}

const NEVER = -1

/** Counts the results of a replay. */
export class Tally {
  readonly buckets: Buckets
  /** Which requests were refused, by their index in the log. */
  readonly refusedAt: Uint8Array
  readonly limits: LimitTally[] = []
  /** The same by layer, category and window, which is looked up at every refusal. */
  readonly #byName = new Map<string, Map<string, Map<string, LimitTally>>>()
  readonly requestsBy: Uint32Array
  readonly refusedBy: Uint32Array
  readonly firstRefusal: Float64Array
  readonly requestsOf: number[]
  readonly refusedFor: number[]
  readonly log: EventLog
  /** The units that the policy counts. */
  readonly units: readonly string[]
  requests = 0
  refused = 0
  /** Requests for operations that the policy does not have. */
  unknown = 0
  /** Amounts in the order of the units. */
  readonly charged: number[]
  readonly refusedCosts: number[]
  /** Refusals that waiting cannot help, because the limit is below the cost. */
  hopeless = 0

  /** @param first and @param last the log's earliest and latest instants */
  constructor(log: EventLog, units: readonly string[], first: number, last: number) {
    this.log = log
    this.units = units
    this.charged = units.map(() => 0)
    this.refusedCosts = units.map(() => 0)
    this.buckets = new Buckets(first, last)
    this.refusedAt = new Uint8Array(log.length)
    this.requestsBy = new Uint32Array(log.subjects.length)
    this.refusedBy = new Uint32Array(log.subjects.length)
    this.firstRefusal = new Float64Array(log.subjects.length).fill(NEVER)
    this.requestsOf = log.operations.map(() => 0)
    this.refusedFor = log.operations.map(() => 0)
  }

  admitted(event: LoggedEvent, cost: Counting['amount']): void {
    this.#count(event)
    if (!event.isRefunded) this.#add(this.charged, cost)
    this.buckets.add(event.at, false)
  }

  refusal(event: LoggedEvent, decision: RefusedDecision<Counting>, index: number): void {
    const { subject, operation, at } = event
    this.#count(event)
    this.refused++
    this.#add(this.refusedCosts, decision.cost)
    if (!decision.retryable) this.hopeless++
    this.refusedAt[index] = 1
    this.refusedBy[subject]!++
    if (this.firstRefusal[subject] === NEVER) this.firstRefusal[subject] = at
    this.refusedFor[operation]!++
    this.buckets.add(at, true)
    this.#ofLimit(decision, subject)
  }

  /** How many subjects were refused at least once. */
  get refusedSubjects(): number {
    return this.refusedBy.reduce((count, refused) => count + (refused > 0 ? 1 : 0), 0)
  }

  subjectName(index: number): Subject {
    return this.log.subjects[index]!
  }

  #add(sums: number[], cost: Counting['amount']): void {
    for (const [u, unit] of this.units.entries()) sums[u]! += ofUnit(cost, unit)
  }

  #count({ subject, operation }: LoggedEvent): void {
    this.requests++
    this.requestsBy[subject]!++
    this.requestsOf[operation]!++
  }

  #ofLimit({ binding, now }: RefusedDecision<Counting>, subject: number): void {
    const known = this.#byName.get(binding.layer)?.get(binding.category)?.get(binding.window)
    const tally = known ?? this.#newLimit(binding, now)
    tally.refusals++
    tally.lastAt = now
    const bit = 1 << (subject & 7)
    if ((tally.hasRefused[subject >> 3]! & bit) !== 0) return
    tally.hasRefused[subject >> 3]! |= bit
    tally.subjects++
  }

  #newLimit({ layer, category, window, unit, kind, limit }: Violation<Counting>, now: number): LimitTally {
    const hasRefused = new Uint8Array((this.log.subjects.length >> 3) + 1)
    const counts = { refusals: 0, subjects: 0, hasRefused, firstAt: now, lastAt: now }
    const tally = { layer, category, window, unit, kind, limit, ...counts }
    const ofLayer = entryOf(this.#byName, layer)
    entryOf(ofLayer, category).set(window, tally)
    this.limits.push(tally)
    return tally
  }
}

function entryOf<V>(map: Map<string, Map<string, V>>, name: string): Map<string, V> {
  const known = map.get(name) ?? new Map<string, V>()
  map.set(name, known)
  return known
}
