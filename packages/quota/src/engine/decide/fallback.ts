import { type Demand, mostOf, neededOf, type Reading, startOf } from '../../decision/decide.ts'
import { type PlacedLimit, type PlacedLimits, placedLimits } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import { takesSlots } from '../../policy/units.ts'
import type { SettleRequest, TakeReply } from '../../store/quota-store.ts'
import { layerKey, type Subject } from '../../store/subjects.ts'
import type { Clock } from '../../time/clock.ts'
import { periodAt } from '../../windows/kinds/kind.ts'
import { add, cameBack, NOT_OPEN, refund, rollBucket } from '../../windows/row.ts'
import type { FailurePolicy } from '../options.ts'
import { failurePolicyOf, type Reports } from './reports.ts'
import { unavailable } from './store-call.ts'
import type { StoreFailure, TakeDemand } from './takes.ts'

// As they are now: a test may replace them later.
const { setTimeout, clearTimeout } = globalThis

/** How often a process that spent without the store checks whether the store is back, in milliseconds. */
const CHECK_EVERY_MS = 1_000

interface FallbackDeps {
  readonly policy: Policy
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly clock: Clock
  readonly reports: Reports
  /** Reads the counters of a request. */
  readonly read: (demand: TakeDemand) => Promise<unknown>
  /** Charges the store. Never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
}

/**
 * Applies the failure policy while a store is unavailable. What a process spent meanwhile is charged when the store is
 * back: with the next reply, or if a read succeeds, which is tried every second.
 */
export class Fallback {
  /** Whether {@link answered} must get every reply: some operation decides locally. */
  readonly remembers: boolean
  readonly #deps: FallbackDeps
  readonly #shares: LocalShares
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The last request that spent. */
  #spender: TakeDemand | undefined

  constructor(deps: FallbackDeps) {
    this.#deps = deps
    this.remembers = Object.values(deps.failurePolicy).some((policy) => typeof policy === 'object')
    this.#shares = new LocalShares(placedLimits(deps.policy), deps.clock)
  }

  /** Remembers a reply of the store, and charges what is owed. */
  answered(demand: TakeDemand, reply: TakeReply): void {
    this.#shares.see(demand, reply)
    this.#pay()
  }

  /**
   * @returns how to refund the admission; `undefined`: it isn't counted
   * @throws {QuotaError} `quota_unavailable` if the policy admits nothing
   */
  admit(demand: TakeDemand, { error, ofSettings }: StoreFailure): Refund | undefined {
    const { policy, failurePolicy, reports } = this.#deps
    const what = failurePolicyOf(policy.operations, failurePolicy, demand.operation) ?? 'closed'
    // Without the store, the number of taken slots is unknown.
    const isLocal = typeof what === 'object' && !takesSlots(demand.costs)
    const refund = isLocal ? this.#shares.spend(demand, what.local.expectedProcesses) : undefined
    const allowed = what === 'open' || refund !== undefined
    reports.degraded(demand, allowed, error)
    if (!allowed) throw unavailable(error, ofSettings ? 'the settings store' : 'the quota store')
    this.#spender = demand
    if (this.#timer === undefined && this.#shares.owes) this.#checkLater()
    return refund
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #pay(): void {
    for (const posting of this.#shares.takePostings()) this.#deps.post({ ...posting, as: 'committed' })
  }

  #checkLater(): void {
    this.#timer = setTimeout(() => void this.#check(), CHECK_EVERY_MS)
    // In Node, the timer must not keep the process alive. Elsewhere, timers are numbers without `unref`.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  async #check(): Promise<void> {
    this.#timer = undefined
    if (!this.#shares.owes || this.#spender === undefined) return
    const isBack = await this.#deps.read(this.#spender).then(
      () => true,
      () => false,
    )
    if (isBack) this.#pay()
    else if (this.#timer === undefined) this.#checkLater()
  }
}

/** The most rows remembered. The least recently seen ones are dropped and then have no share. */
const MAX_SEEN = 10_000
/** The most windows remembered that have spent from their share. */
const MAX_SPENT = 50_000

/** A window as last reported by the store, from which an outage may spend a share. */
interface Share {
  /** When it was reported, by the process's clock, in epoch milliseconds. */
  readonly seenAt: number
  /** The time of the store's clock then. */
  readonly storeNow: number
  readonly startedAt: number
  /** The used tokens, less those that have returned to a bucket. */
  readonly used: number
  /** The effective limit; for a bucket, its burst. */
  readonly limit: number
  /** See the request's quotas; 0: no bucket. */
  readonly rate: number
  /** When it ends, by the store's clock; `NOT_OPEN`: it isn't open. */
  readonly endsAt: number
}

/** The shares of a row, by the limit's position. A limit that no request has counted yet has none. */
type RowShares = Map<number, Share>

/** The spent part of a window's share. All outages together have one share. */
interface Spent {
  readonly share: number
  /** `[startedAt, used]` of the share. The share of a bucket is itself a bucket. */
  readonly cell: [startedAt: number, used: number]
  /** When the window ends by the process's clock, in epoch milliseconds; for a bucket, when it is full again. */
  endsAt: number
}

/** A share that can pay for a request. */
interface Spendable {
  readonly spent: Spent
  /** The rest of the share. */
  readonly left: number
}

/** The same, with its limit, the start of the window, and how much of it is to be spent. */
interface Spending extends Spendable {
  readonly limit: PlacedLimit
  readonly startedAt: number
  readonly cost: number
}

/** An amount spent without the store (negative: refunded). It is posted when the store is back. */
type Posting = Omit<SettleRequest, 'as' | 'id'>

/**
 * Refunds what wasn't needed, one amount per unit. If the store was already charged, returns the refund to send to it.
 */
export type Refund = (amounts: readonly number[]) => Posting | undefined

/**
 * Decides while a store is unavailable, from its last replies. A process spends at most `floor(last seen remainder /
 * expected processes)` of a window. It spends nothing of windows that it hasn't seen open, or that have ended since. So
 * with n processes cut off, at most the limit plus their shares is admitted.
 *
 * The share of a bucket is a bucket. It has its part of the limit and the burst, and starts with its part of the
 * remainder.
 */
export class LocalShares {
  readonly #placed: PlacedLimits
  readonly #clock: Clock
  /** The least recently seen first. */
  readonly #seen = new Map<string, RowShares>()
  /** By row, window, and the window's start. */
  readonly #spent = new Map<string, Spent>()
  /** By the windows to charge. */
  #postings = new Map<string, Posting>()

  constructor(placed: PlacedLimits, clock: Clock) {
    this.#placed = placed
    this.#clock = clock
  }

  /** Remembers a reply of the store. */
  see({ subject, set, quotas, periods }: Demand, { now, states }: Reading): void {
    const seenAt = this.#clock.now()
    for (const layer of quotas.layers) {
      const windows = this.#windowsOf(set, [layer])
      const [first] = windows
      if (first === undefined) continue
      const key = rowKey(first, subject)
      const row: RowShares = this.#seen.get(key) ?? new Map()
      this.#seen.delete(key)
      this.#seen.set(key, row)
      for (const limit of windows) {
        const { at } = limit
        const startedAt = startOf(states, limit)
        row.set(at, {
          seenAt,
          storeNow: now,
          startedAt,
          used: this.#placed.layout.usedAt(states, at, quotas.rates, now),
          limit: mostOf(quotas, limit),
          rate: quotas.rates?.[at] ?? 0,
          endsAt: this.#endOf(limit, startedAt, periods),
        })
      }
    }
    for (const key of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) break
      this.#seen.delete(key)
    }
  }

  /**
   * Spends a cost from the shares of all windows that count it, or from none.
   *
   * @returns a function that refunds at most the cost, once; `undefined`: a share is too small
   */
  spend({ subject, set, costs, quotas: { layers } }: Demand, expectedProcesses: number): Refund | undefined {
    const spendings: Spending[] = []
    for (const limit of this.#windowsOf(set, layers)) {
      const cost = neededOf(costs, limit)
      if (cost === 0) continue
      const found = this.#spendable(limit, subject, expectedProcesses)
      if (found === undefined || cost > found.left) return undefined
      spendings.push({ limit, cost, ...found })
    }
    const states = this.#placed.layout.blank.slice()
    for (const { limit, startedAt } of spendings) states[2 * limit.at] = startedAt
    const key = JSON.stringify([layers, set, subject, states])
    this.#post(key, { subject, set, layers, states, refunds: costs.slice(0, -1).map((cost) => -cost) })
    for (const { cost, spent } of spendings) add(spent.cell, 0, cost)
    const charged = spendings.map(({ limit, spent: { cell } }) => ({ limit, cell, startedAt: cell[0] }))
    const posted = this.#postings
    return (refunds) => {
      // What hasn't been posted is simply dropped. What has been posted is refunded like any other charge.
      if (posted !== this.#postings) return { subject, set, layers, states, refunds }
      this.#post(key, { subject, set, layers, states, refunds })
      for (const { limit, cell, startedAt } of charged) refund(cell, 0, startedAt, neededOf(refunds, limit))
      return undefined
    }
  }

  get owes(): boolean {
    return this.#postings.size > 0
  }

  /** Returns what was spent since the last call, for the store. It is posted at most once, even if it gets lost. */
  takePostings(): readonly Posting[] {
    if (this.#postings.size === 0) return []
    const postings = [...this.#postings.values()].filter(({ refunds }) => refunds.some((amount) => amount !== 0))
    this.#postings = new Map()
    return postings
  }

  #post(key: string, posting: Posting): void {
    const before = this.#postings.get(key)?.refunds
    const refunds = posting.refunds.map((amount, unit) => amount + (before?.[unit] ?? 0))
    this.#postings.set(key, { ...posting, refunds })
  }

  /** Returns a set's windows in some layers. */
  #windowsOf(set: number, layers: readonly number[]): readonly PlacedLimit[] {
    const { limits, schema } = this.#placed
    return limits.filter(
      ({ at, kind, layer }) => kind !== 'concurrency' && layers.includes(layer) && schema.sets[set]?.includes(at),
    )
  }

  /** Returns when a window ends, by the store's clock. */
  #endOf({ at, kind, lengthMs }: PlacedLimit, startedAt: number, periods: readonly number[] | undefined): number {
    if (startedAt === NOT_OPEN) return NOT_OPEN
    if (kind !== 'calendar') return startedAt + lengthMs
    return periodAt(startedAt, periods, this.#placed.layout.periodsAt(at))?.end ?? startedAt
  }

  /** Returns a window's share, if it was seen open and still is. */
  #spendable(
    limit: PlacedLimit,
    subject: Subject,
    processes: number,
  ): (Spendable & Pick<Spending, 'startedAt'>) | undefined {
    const row = rowKey(limit, subject)
    const share = this.#seen.get(row)?.get(limit.at)
    if (share === undefined || share.startedAt === NOT_OPEN) return undefined
    const key = `${row} ${limit.at}`
    const found = share.rate > 0 ? this.#bucket(key, share, limit, processes) : this.#window(key, share, processes)
    return found && { ...found, startedAt: share.startedAt }
  }

  /** The first outage that needs a window's share fixes it. Later outages don't renew it. */
  #window(key: string, share: Share, processes: number): Spendable | undefined {
    const { startedAt, limit, used } = share
    const endsAt = share.seenAt + (share.endsAt - share.storeNow)
    if (this.#clock.now() >= endsAt) return undefined
    const mine = Math.floor(Math.max(0, limit - used) / processes)
    const spent = this.#spentOf(`${key} ${startedAt}`, { share: mine, cell: [startedAt, 0], endsAt })
    return spent && { spent, left: spent.share - spent.cell[1] }
  }

  /** A bucket never ends. Its share refills over time. */
  #bucket(key: string, share: Share, { lengthMs }: PlacedLimit, processes: number): Spendable | undefined {
    const now = this.#clock.now()
    // Its length is twice the time in which it refills.
    const perMs = lengthMs / 2
    const rate = Math.floor(share.rate / processes)
    const most = Math.floor(share.limit / processes)
    const missing = Math.min(most, Math.ceil(share.used / processes))
    const spent = this.#spentOf(key, { share: most, cell: [share.seenAt, missing], endsAt: now + lengthMs })
    if (spent === undefined) return undefined
    spent.endsAt = now + lengthMs
    const { cell } = spent
    if (rate > 0) rollBucket(cell, 0, now - lengthMs, now, rate, perMs)
    return { spent, left: most - cell[1] + cameBack(now - cell[0], rate, perMs) }
  }

  /** Returns `undefined` if too many shares are remembered. */
  #spentOf(key: string, begun: Spent): Spent | undefined {
    const known = this.#spent.get(key)
    if (known !== undefined) return known
    if (this.#spent.size >= MAX_SPENT) this.#forgetEnded()
    if (this.#spent.size >= MAX_SPENT) return undefined
    this.#spent.set(key, begun)
    return begun
  }

  #forgetEnded(): void {
    const now = this.#clock.now()
    for (const [key, { endsAt }] of this.#spent) if (now >= endsAt) this.#spent.delete(key)
  }
}

function rowKey({ layer, ofLayer }: PlacedLimit, subject: Subject): string {
  return JSON.stringify([layer, layerKey(ofLayer, subject)])
}
