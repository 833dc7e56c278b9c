import { countIn, Instant, type Layout, startIn } from '@scoregw/quota/internal'
import { notDone } from '@scoregw/quota/store'
import { storeError } from '../connection/errors.ts'
import { addTo, covers, isNothing, minus, plus, RecentCosts, total, type UnitAmounts } from './amounts.ts'
import { Denials } from './denials.ts'
import { areUsable, Lease, type LeaseGrant, type Moment, type Seen } from './lease.ts'
import type { LeaseCounts } from './lease-report.ts'
import {
  areSameLimits,
  isSame,
  type LeaseLimits,
  OUTCOMES,
  type SharedAnswer,
  type SharedRequest,
  type Waiter,
} from './shared-answer.ts'
import type { GrantReply, SharedCalls } from './shared-calls.ts'
import { SharedCells, startsOf, without } from './shared-cells.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, setImmediate } = globalThis

/** The most requests in one script call. */
const MOST_ASKS = 256
/** The most requests that wait for the shared layers. Further requests fail immediately. */
const MOST_WAITING = 10_000

/**
 * Leases are topped up when they fall to this share of the recent costs. That is an eighth of a second ahead of need, many
 * times longer than a grant takes, and late enough to keep grants rare. One server handles all grants.
 */
const RENEWED_AT = 1 / 4

const NOTHING = { states: [], ends: [] } as const

export interface SharedPoolDeps {
  readonly calls: Pick<SharedCalls, 'grant' | 'refund'>
  /** The layers whose rows the pool spends. The layout is of these alone: limits, states and periods are theirs. */
  readonly layers: readonly number[]
  readonly layout: Layout
  /** How many units the schema has. */
  readonly units: number
  readonly newLeaseId: () => string
  readonly moment: () => Moment
  /** Converts the shared layers' clock from an earlier moment to now; epoch milliseconds. */
  readonly timeAfter: (seen: Pick<Seen, 'now' | 'at'>, now: Moment) => number
  readonly counts: LeaseCounts
  /** Refunds windows with these starts, once. It does not change a lease's record. */
  readonly refund: (starts: readonly number[], amounts: UnitAmounts) => Promise<void>
}

/** A request that waited, and its answer. */
interface Answered {
  readonly waiter: Waiter
  readonly answer: SharedAnswer
}

/** The rows of some shared layers in one process: its leases, and the requests that wait for the shared layers. */
export class SharedPool {
  readonly #deps: SharedPoolDeps
  readonly #waiting: Waiter[] = []
  #leases: Lease[] = []
  #seen: Seen | undefined
  /** Starts of the windows in the last refusal. */
  #denied: readonly number[] | undefined
  readonly #denials: Denials
  readonly #recent: RecentCosts
  readonly #instant: Instant
  /** The last grant included a lease, so there is enough left to prefetch. */
  #isLeasing = false
  #serving: Promise<void> | undefined
  #prefetch: Promise<void> | undefined
  readonly #returning = new Set<Promise<unknown>>()

  constructor(deps: SharedPoolDeps) {
    this.#deps = deps
    this.#denials = new Denials(deps)
    this.#recent = new RecentCosts(deps.units)
    this.#instant = new Instant(deps.layout)
  }

  get leases(): readonly Lease[] {
    return this.#leases
  }

  /** Resolves when the last prefetch and all returns in flight have arrived. Until then their tokens look spent. */
  get arrived(): Promise<unknown> {
    return Promise.all([this.#prefetch, ...this.#returning])
  }

  take(request: SharedRequest): SharedAnswer | Promise<SharedAnswer> {
    const now = this.#deps.moment()
    this.#recent.add(request.costs, now.steadyMs)
    const known = this.#fromLease(request, now) ?? this.#denials.answer(request, now)
    if (known !== undefined) return known
    if (this.#waiting.length >= MOST_WAITING) {
      throw notDone(storeError(`${MOST_WAITING} requests wait for the shared layers already`))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, isAgain: false, resolve, reject })
      this.#serving ??= this.#serve()
    })
  }

  /**
   * Returns charged tokens that are not needed: to a live lease of the same windows, otherwise to the shared layers.
   *
   * @throws {QuotaError} `store_error`; the tokens then stay charged
   */
  async putBack(starts: readonly number[], amounts: UnitAmounts): Promise<void> {
    this.#denials.forget()
    const now = this.#deps.moment()
    const lease = this.#leases.find(({ grant }) => isSame(grant.starts, starts))
    if (lease?.isLive(now)) {
      lease.putBack(amounts)
      return
    }
    if (this.#seen !== undefined && isSame(startsOf(this.#seen.states), starts)) {
      this.#seen = { ...this.#seen, states: without(this.#deps.layout, this.#seen.states, amounts) }
    }
    await this.#deps.refund(starts, amounts)
  }

  /** This process's unspent tokens in windows with these starts, per unit. */
  idleIn(starts: readonly number[]): UnitAmounts {
    return this.#idle((lease) => isSame(lease.grant.starts, starts))
  }

  /** States without these amounts. */
  less(states: readonly number[], amounts: UnitAmounts): number[] {
    return without(this.#deps.layout, states, amounts)
  }

  /** Call it after a charge to the shared layers outside of leases and grants. */
  forgetDenial(): void {
    this.#denials.forget()
  }

  /** Call it after a reset: the leased tokens belong to windows that are closed now. */
  forget(): void {
    this.#leases = []
    this.#denials.forget()
    this.#seen = undefined
  }

  /** Returns the leases. Resolves when the returns have succeeded or failed. */
  async close(): Promise<void> {
    for (const lease of this.#leases) this.#return(lease)
    this.#leases = []
    await Promise.all(this.#returning)
  }

  #fromLease(request: SharedRequest, now: Moment): SharedAnswer | undefined {
    const { costs } = request
    this.#retire(now, request)
    const lease = this.#spend(costs)
    if (lease === undefined) return undefined
    this.#deps.counts.localDecisions++
    this.#refresh(lease)
    return { outcome: 'charged', now: this.#timeNow(now), states: this.#statesIn(lease.grant.starts) }
  }

  /** Spends one lease, or several of the same windows together. All of them are live. @returns one that was spent */
  #spend(costs: UnitAmounts): Lease | undefined {
    for (const lease of this.#leases) {
      if (!covers(lease.amounts, costs)) continue
      lease.spend(costs)
      return lease
    }
    // The rest of each would stay unspent until it ends, and other processes near the limit would miss it.
    const newest = this.#leases.at(-1)
    if (newest === undefined || !covers(this.idleIn(newest.grant.starts), costs)) return undefined
    let left = costs
    for (const lease of this.#leases) {
      if (isSame(lease.grant.starts, newest.grant.starts)) left = lease.spendUpTo(left)
    }
    this.#leases = this.#leases.filter((lease) => !isNothing(lease.amounts) || lease === newest)
    return newest
  }

  /** Returns the leases that may no longer be used: ended ones, and those under other limits. */
  #retire(now: Moment, grant?: LeaseLimits): void {
    if (areUsable(this.#leases, now, grant)) return
    const mayStay = (lease: Lease): boolean => areUsable([lease], now, grant)
    const ended = this.#leases.filter((lease) => !mayStay(lease))
    this.#leases = this.#leases.filter(mayStay)
    for (const lease of ended) this.#return(lease)
  }

  #return(lease: Lease): void {
    const amounts = [...lease.amounts]
    if (isNothing(amounts)) return
    // Removed here before it is sent, so that nothing is both spent and credited.
    lease.amounts.fill(0)
    const sent = this.#deps.calls.refund(this.#deps.layers, lease.grant, amounts).catch(() => {
      this.#deps.counts.strandedTokens += total(amounts)
    })
    const followed: Promise<unknown> = sent.finally(() => this.#returning.delete(followed))
    this.#returning.add(followed)
  }

  #timeNow(now: Moment): number {
    return this.#seen === undefined ? now.wallMs : this.#deps.timeAfter(this.#seen, now)
  }

  #statesIn(starts: readonly number[]): number[] {
    const { layout } = this.#deps
    const [idle, seen] = [this.idleIn(starts), this.#seen?.states]
    const states = new Array<number>(2 * starts.length).fill(0.5)
    for (const [at, start] of starts.entries()) {
      states[2 * at] = start
      states[2 * at + 1] = Math.max(0, (seen?.[2 * at + 1] ?? 0) - (idle[layout.cellAt(at).unit] ?? 0))
    }
    return states
  }

  /** The unspent amounts of leases, per unit. */
  #idle(counts: (lease: Lease) => boolean = () => true): UnitAmounts {
    const idle = new Array<number>(this.#deps.units).fill(0)
    for (const lease of this.#leases) if (counts(lease)) addTo(idle, lease.amounts)
    return idle
  }

  /** Prefetches when the remaining tokens will not last. Opens no window. */
  #refresh({ grant }: Lease): void {
    if (!this.#isLeasing || this.#serving !== undefined) return
    const needed = this.#recent.amounts.map((amount) => amount * RENEWED_AT)
    if (covers(this.#idle(), needed)) return
    const { limits, rates, settingsRevision, periods } = grant
    this.#prefetch = this.#grant([], { limits, rates, settingsRevision, periods, mayOpen: false })
    this.#serving = this.#prefetch.then(() => this.#serve())
  }

  /** Serves the waiting requests in order; never rejects. */
  async #serve(): Promise<void> {
    // Requests of one tick of the event loop go out together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const waiters = this.#nextRun()
      const [first] = waiters
      if (first !== undefined) await this.#grant(waiters, first.request)
    }
    this.#serving = undefined
  }

  /** The next waiting requests under the same limits. A lease may serve some of them by now. */
  #nextRun(): Waiter[] {
    const run: Waiter[] = []
    const now = this.#deps.moment()
    while (run.length < MOST_ASKS) {
      const [waiter] = this.#waiting
      if (waiter === undefined) break
      const { request } = waiter
      const first = run[0]?.request
      const isAlike = first === undefined || (first.mayOpen === request.mayOpen && areSameLimits(first, request))
      if (!isAlike) break
      this.#waiting.shift()
      const known = run.length === 0 ? this.#fromLease(request, now) : undefined
      if (known === undefined) run.push(waiter)
      else waiter.resolve(known)
    }
    return run
  }

  /** Never rejects. */
  async #grant(
    waiters: readonly Waiter[],
    { limits, rates, settingsRevision, periods, mayOpen }: LeaseLimits & Pick<SharedRequest, 'mayOpen'>,
  ): Promise<void> {
    const { calls, layers, newLeaseId, counts } = this.#deps
    const costs = waiters.map(({ request }) => request.costs)
    const idle = this.#idle()
    const requested = costs.reduce<UnitAmounts>(plus, idle)
    // A bucket has no end that could end a lease.
    const ahead = rates === undefined ? this.#recent.amounts : idle
    const wanted = minus(ahead.map(Math.floor), requested).map((amount) => Math.max(0, amount))
    const leaseId = newLeaseId()
    counts.grants++
    try {
      const request = { costs, wanted, idle, limits, rates, settingsRevision, periods, mayOpen, leaseId }
      const grant = { id: leaseId, limits, rates, settingsRevision, periods }
      const reply = await calls.grant(layers, request, (late) => this.#grantedLate(late, grant))
      this.#granted(waiters, reply, grant)
    } catch (error) {
      for (const waiter of waiters) waiter.reject(error)
    }
  }

  /** Handles a grant that arrived after its callers' deadline: it is returned completely. */
  #grantedLate({ now, amounts, sentAt, cells }: GrantReply, of: LeaseLimits & Pick<LeaseGrant, 'id'>): void {
    if (isNothing(amounts)) return
    const rows = this.#rowsAt(cells, now, of)
    if (rows === undefined) throw new RangeError('a grant was made outside of its periods')
    rows.charge(amounts)
    const starts = startsOf(rows.states())
    this.#return(new Lease({ ...of, amounts, sentAt, now, endsAt: rows.endsAt(), starts }))
  }

  /** Rows as seen at an instant; `undefined` if it is outside the periods. */
  #rowsAt(cells: Float64Array, now: number, { periods, rates }: LeaseLimits): SharedCells | undefined {
    const [instant, { layout }] = [this.#instant, this.#deps]
    if (!instant.moveTo(now, periods)) return undefined
    return new SharedCells(cells, { layout, instant, now, periods, rates })
  }

  #granted(waiters: readonly Waiter[], reply: GrantReply, of: LeaseLimits & Pick<LeaseGrant, 'id'>): void {
    const { now, statuses, amounts, sentAt, cells } = reply
    const rows = this.#rowsAt(cells, now, of)
    if (rows === undefined || statuses.startsWith('s')) {
      const settingsRevision = statuses.startsWith('s') ? reply.settingsRevision : undefined
      for (const waiter of waiters) waiter.resolve({ outcome: 'stale', now, states: [], settingsRevision })
      return
    }
    const before = rows.states()
    const idle = this.idleIn(startsOf(before))
    const answered = waiters.map((waiter, index): Answered => {
      const outcome = OUTCOMES[statuses[index] ?? 'r'] ?? 'refused'
      if (outcome === 'charged') rows.charge(waiter.request.costs)
      // A refusal shows the amounts that caused it, unspent leases of this process included.
      return { waiter, answer: { outcome, now, states: rows.states(outcome === 'refused' ? undefined : idle) } }
    })
    const charged = answered.filter(({ answer }) => answer.outcome === 'charged')
    const leased = charged.reduce<UnitAmounts>((left, { waiter }) => minus(left, waiter.request.costs), amounts)
    rows.charge(leased)
    const after = rows.states()
    const starts = startsOf(after)
    const ends = rows.ends()
    const grant = { ...of, amounts, sentAt, now, endsAt: Math.min(...ends), starts }
    if (!reply.isReplicated && !isNothing(amounts)) {
      this.#notReplicated(answered, new Lease(grant))
      return
    }
    if (this.#isLost(reply)) this.#deps.counts.counterLosses++
    this.#seen = { now, at: this.#deps.moment(), states: after, ends }
    this.#isLeasing = !isNothing(leased)
    if (this.#isLeasing) this.#keep(new Lease({ ...grant, amounts: leased }))
    this.#note(of, reply, this.#seen)
    this.#answer(answered)
  }

  /**
   * Whether a row is missing whose window has not ended. Rows outlive their windows and resets keep them, so this means
   * a loss.
   */
  #isLost({ cells, now }: GrantReply): boolean {
    const { states, ends } = this.#seen ?? NOTHING
    return ends.some((end, at) => startIn(states, 2 * at) >= 0 && now < end && startIn(cells, 2 * at) < 0)
  }

  /** Handles a grant that some replica lacks. That replica could take over without it, so the grant isn't used. */
  #notReplicated(answered: readonly Answered[], lease: Lease): void {
    this.#return(lease)
    const error = storeError('a replica of the shared layers has not received the grant, so the grant is not used')
    for (const { waiter, answer } of answered) {
      if (answer.outcome === 'charged') waiter.reject(error)
      else waiter.resolve(answer)
    }
  }

  #keep(lease: Lease): void {
    this.#leases.push(lease)
    setTimeout(() => this.#retire(this.#deps.moment()), Math.max(0, lease.usableMs) + 1).unref()
  }

  #answer(answered: readonly Answered[]): void {
    const again: Waiter[] = []
    const hasIdle = this.#leases.some(({ amounts }) => !isNothing(amounts))
    for (const { waiter, answer } of answered) {
      if (answer.outcome !== 'refused' || waiter.isAgain || !hasIdle) waiter.resolve(answer)
      else again.push(waiter)
    }
    if (again.length === 0) return
    // This process's own leases take the tokens it needs: return them, and request again once.
    for (const waiter of again) waiter.isAgain = true
    for (const lease of this.#leases) this.#return(lease)
    this.#leases = []
    void Promise.all(this.#returning).then(() => {
      this.#waiting.unshift(...again)
      this.#serving ??= this.#serve()
    })
  }

  /** Remembers a refusal, or this process's charges since the last one. */
  #note(grant: LeaseLimits, { statuses, leasedByOthers }: GrantReply, seen: Seen): void {
    const { counts } = this.#deps
    // A bucket refills with time, which would end a refusal.
    if (grant.rates !== undefined) {
      this.#denials.forget()
      return
    }
    for (const [at, limit] of grant.limits.entries()) {
      counts.overshootTokens = Math.max(counts.overshootTokens, countIn(seen.states, 2 * at) - limit)
    }
    if (!statuses.includes('r')) {
      this.#denials.follow(seen, grant)
      return
    }
    const room = this.#denials.note(seen, grant)
    const starts = startsOf(seen.states)
    if (this.#denied === undefined || !isSame(this.#denied, starts)) {
      const left = room.map((amount) => (amount === Number.POSITIVE_INFINITY ? 0 : Math.max(0, amount)))
      counts.underUseAtFirstDenial = total(left) + total(leasedByOthers) + total(this.idleIn(starts))
      this.#denied = starts
    }
  }
}
