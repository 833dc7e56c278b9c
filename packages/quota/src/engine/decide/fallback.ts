import type { DecisionFrame, Demand, Reading } from '../../decision/decide.ts'
import type { AdmittedDecision } from '../../decision/decision.ts'
import { admitted } from '../../decision/outcome.ts'
import type { Policy } from '../../policy/policy.ts'
import { takesSlots } from '../../policy/units.ts'
import type { SettleRequest, TakeReply } from '../../store/quota-store.ts'
import { layerKey, type StoreSchema, type Subject, storeSchema } from '../../store/schema.ts'
import type { Clock } from '../../time/clock.ts'
import { PERIOD_NUMBERS, periodAt } from '../../windows/kinds/kind.ts'
import { Layout } from '../../windows/layout.ts'
import { cameBack } from '../../windows/refill.ts'
import { add, NOT_OPEN, refund, rollBucket } from '../../windows/row.ts'
import type { FailurePolicy } from '../options.ts'
import type { TakeDemand } from './demands.ts'
import type { Reports } from './reports.ts'
import { unavailable } from './store-call.ts'
import type { StoreFailure } from './takes.ts'

/** The failure policy's decision, and how to refund it. */
export interface FallbackAdmission {
  readonly decision: AdmittedDecision
  /** Returns what to send to the store for a refund, one amount per unit; `undefined`: the charge was never sent. */
  readonly refund: (amounts: readonly number[]) => Posting | undefined
}

export interface FallbackDeps {
  readonly policy: Policy
  readonly frames: readonly DecisionFrame[]
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly clock: Clock
  readonly reports: Reports
}

/** Applies the failure policy while a store is unavailable. */
export class Fallback {
  readonly #deps: FallbackDeps
  /** Present only if some category decides locally. */
  readonly #shares: LocalShares | undefined

  constructor(deps: FallbackDeps) {
    this.#deps = deps
    const isLocal = Object.values(deps.failurePolicy).some((policy) => typeof policy === 'object')
    this.#shares = isLocal ? new LocalShares(storeSchema(deps.policy), deps.clock) : undefined
  }

  /** Whether {@link seen} must get every reply. */
  get remembers(): boolean {
    return this.#shares !== undefined
  }

  /**
   * Remembers a reply of the store. Returns what was spent during the outage, which the store must now be charged for.
   */
  seen(demand: TakeDemand, reply: TakeReply): readonly Omit<SettleRequest, 'id'>[] {
    if (this.#shares === undefined) return NOTHING
    this.#shares.see(demand, reply)
    return this.#shares.takePostings().map((posting) => ({ ...posting, as: 'committed' }))
  }

  /** @throws {QuotaError} `quota_unavailable` if the policy admits nothing */
  admit(demand: TakeDemand, { error, ofSettings }: StoreFailure): FallbackAdmission {
    const { policy, frames, failurePolicy, clock, reports } = this.#deps
    const what = failurePolicy[policy.categories[demand.category]!] ?? 'closed'
    const refund = typeof what === 'object' ? this.#spend(demand, what.local) : undefined
    const allowed = what === 'open' || refund !== undefined
    reports.degraded(demand, allowed, error)
    if (!allowed) throw unavailable(error, ofSettings ? 'the settings store' : 'the quota store')
    const decision = admitted(demand, { now: clock.now(), states: [] }, frames[demand.category]!, 'fallback')
    return { decision, refund: (amounts) => refund?.(amounts) }
  }

  #spend(demand: TakeDemand, { expectedProcesses }: { readonly expectedProcesses: number }): Refund | undefined {
    // Without the store, the number of taken slots is unknown.
    if (takesSlots(demand.costs)) return undefined
    return this.#shares?.spend(demand, expectedProcesses)
  }
}

const NOTHING: readonly Omit<SettleRequest, 'id'>[] = []

/** The most rows remembered. The least recently seen ones are dropped and then have no share. */
const MAX_SEEN = 10_000
/** The most windows remembered that have spent from their share. */
const MAX_SPENT = 50_000

/** A row as last reported by the store, from which an outage may spend a share. */
interface Share {
  /** When it was reported, by the process's clock, in epoch milliseconds. */
  readonly seenAt: number
  /** The time of the store's clock then. */
  readonly storeNow: number
  /** `[startedAt, used]` for each window. */
  readonly states: readonly number[]
  /** The used tokens of each window, less those that have returned to a bucket. */
  readonly used: readonly number[]
  /** The effective limit of each window; for a bucket, its burst. */
  readonly limits: readonly number[]
  /** See the request's quotas. */
  readonly rates: readonly number[] | undefined
  /** When each window ends, by the store's clock; `NOT_OPEN`: it isn't open. */
  readonly ends: readonly number[]
}

/** The spent part of a window's share. All outages together have one share. */
interface Spent {
  readonly share: number
  /** `[startedAt, used]` of the share. The share of a bucket is itself a bucket. */
  readonly cell: number[]
  /** When the window ends by the process's clock, in epoch milliseconds; for a bucket, when it is full again. */
  endsAt: number
}

/** A share that can pay for a request. */
interface Spendable {
  readonly unit: number
  readonly spent: Spent
  /** The rest of the share. */
  readonly left: number
}

/** An amount spent without the store (negative: refunded). It is posted when the store is back. */
export type Posting = Omit<SettleRequest, 'as' | 'id'>

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
  readonly #layout: Layout
  readonly #layers: StoreSchema['layers']
  readonly #clock: Clock
  /** The least recently seen first. */
  readonly #seen = new Map<string, Share>()
  /** By row, window, and the window's start. */
  readonly #spent = new Map<string, Spent>()
  /** By the windows to charge. */
  #postings = new Map<string, Posting>()

  constructor({ cells, layers }: StoreSchema, clock: Clock) {
    this.#layout = new Layout(cells)
    this.#layers = layers
    this.#clock = clock
  }

  /** Remembers a reply of the store. */
  see({ subject, category, quotas, periods }: Demand, { now, states }: Reading): void {
    const seenAt = this.#clock.now()
    for (const [l, layer] of quotas.layers.entries()) {
      const key = this.#rowKey(layer, category, subject)
      this.#seen.delete(key)
      this.#seen.set(key, {
        seenAt,
        storeNow: now,
        states: this.#layout.rowOf(states, l),
        used: this.#layout.lengthsMs.map((_, w) =>
          this.#layout.usedAt(states, this.#layout.limitAt(l, w), quotas.rates, now),
        ),
        limits: this.#layout.limitsOf(quotas.limits, l),
        rates: quotas.rates && this.#layout.limitsOf(quotas.rates, l),
        ends: this.#layout.lengthsMs.map((_, w) => this.#endOf(l, w, states, periods)),
      })
    }
    while (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.keys().next().value!)
  }

  /**
   * Spends a cost from the shares of all windows that count it, or from none.
   *
   * @returns a function that refunds at most the cost, once; `undefined`: a share is too small
   */
  spend({ subject, category, costs, quotas: { layers } }: Demand, expectedProcesses: number): Refund | undefined {
    const rows = layers.map((layer) => this.#openRow(layer, category, subject, costs, expectedProcesses))
    const spents = rows.flatMap((row) => row?.spents ?? [])
    const known = rows.every((row) => row !== undefined)
    if (!known || spents.some(({ unit, left }) => costs[unit]! > left)) return undefined
    const states = rows.flatMap((row) => row.states)
    const key = JSON.stringify([layers, category, subject, states])
    this.#post(key, { subject, category, layers, states, refunds: costs.slice(0, -1).map((cost) => -cost) })
    for (const { unit, spent } of spents) add(spent.cell, 0, costs[unit]!)
    const starts = spents.map(({ spent }) => spent.cell[0]!)
    const posted = this.#postings
    return (refunds) => {
      // What hasn't been posted is simply dropped. What has been posted is refunded like any other charge.
      if (posted !== this.#postings) return { subject, category, layers, states, refunds }
      this.#post(key, { subject, category, layers, states, refunds })
      for (const [at, { unit, spent }] of spents.entries()) refund(spent.cell, 0, starts[at]!, refunds[unit]!)
      return undefined
    }
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

  /** Returns the windows of a row that count a cost, if all were seen open and still are. */
  #openRow(
    layer: number,
    category: number,
    subject: Subject,
    costs: readonly number[],
    expectedProcesses: number,
  ): { states: readonly number[]; spents: readonly Spendable[] } | undefined {
    const key = this.#rowKey(layer, category, subject)
    const share = this.#seen.get(key)
    if (share === undefined) return undefined
    const spents: Spendable[] = []
    for (let w = 0; w < this.#layout.width; w++) {
      const unit = this.#layout.units[w]!
      if (costs[unit] === 0) continue
      const of = `${key} ${w}`
      const isBucket = (share.rates?.[w] ?? 0) > 0
      const found = isBucket
        ? this.#bucket(of, share, w, expectedProcesses)
        : this.#window(of, share, w, expectedProcesses)
      if (found === undefined) return undefined
      spents.push({ unit, ...found })
    }
    return { states: share.states, spents }
  }

  /** Returns when a state's window ends, by the store's clock. */
  #endOf(slot: number, window: number, states: readonly number[], periods: readonly number[] | undefined): number {
    const startedAt = states[this.#layout.cellAt(slot, window)]!
    if (startedAt === NOT_OPEN) return NOT_OPEN
    const index = this.#layout.calendars.indexOf(window)
    if (index === -1) return startedAt + this.#layout.lengthsMs[window]!
    return periodAt(startedAt, periods, this.#layout.periodsAt(slot) + PERIOD_NUMBERS * index)?.end ?? startedAt
  }

  /** The first outage that needs a window's share fixes it. Later outages don't renew it. */
  #window(key: string, share: Share, w: number, processes: number): Omit<Spendable, 'unit'> | undefined {
    const startedAt = share.states[this.#layout.cellAt(0, w)]!
    const endsAt = share.seenAt + (share.ends[w]! - share.storeNow)
    if (startedAt === NOT_OPEN || this.#clock.now() >= endsAt) return undefined
    const mine = Math.floor(Math.max(0, share.limits[w]! - share.used[w]!) / processes)
    const spent = this.#spentOf(`${key} ${startedAt}`, { share: mine, cell: [startedAt, 0], endsAt })
    return spent && { spent, left: spent.share - spent.cell[1]! }
  }

  /** A bucket never ends. Its share refills over time. */
  #bucket(key: string, share: Share, w: number, processes: number): Omit<Spendable, 'unit'> | undefined {
    if (share.states[this.#layout.cellAt(0, w)] === NOT_OPEN) return undefined
    const now = this.#clock.now()
    const perMs = this.#layout.persMs[w]!
    const rate = Math.floor(share.rates![w]! / processes)
    const most = Math.floor(share.limits[w]! / processes)
    const missing = Math.min(most, Math.ceil(share.used[w]! / processes))
    const spent = this.#spentOf(key, { share: most, cell: [share.seenAt, missing], endsAt: now + 2 * perMs })
    if (spent === undefined) return undefined
    spent.endsAt = now + 2 * perMs
    const { cell } = spent
    if (rate > 0) rollBucket(cell, 0, now - 2 * perMs, now, rate, perMs)
    return { spent, left: most - cell[1]! + cameBack(now - cell[0]!, rate, perMs) }
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

  #rowKey(layer: number, category: number, subject: Subject): string {
    return JSON.stringify([layer, category, layerKey(this.#layers[layer]!, subject)])
  }
}
