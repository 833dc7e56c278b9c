import type { UnitAmounts } from '../../src/leases/amounts.ts'
import type { Lease, Moment } from '../../src/leases/lease.ts'
import type { GrantReply, GrantRequest } from '../../src/leases/shared-calls.ts'

const CLOSED = -1
const COUNTED_MS = 5_000

/** The calls of one process to the site, and their answers. */
export interface SimulatedCalls {
  grant(layers: readonly number[], request: GrantRequest): Promise<GrantReply>
  refund(layers: readonly number[], grant: Lease['grant'], amounts: UnitAmounts): Promise<UnitAmounts>
}

/** The site's scripts (`grant.lua`, `return.lua`) on a clock that is turned by hand: one row, no network. */
export class SimulatedSite {
  nowMs: number
  grants = 0
  /** Tokens of the largest lease of all, and of the last lease of each process. */
  largestLease = 0
  readonly lastLeases: Map<string, number> = new Map()
  readonly #lengthsMs: readonly number[]
  readonly #starts: number[]
  readonly #used: number[]
  readonly #seenAt = new Map<string, number>()
  readonly #leases = new Map<string, number>()

  constructor(lengthsMs: readonly number[], nowMs: number) {
    this.#lengthsMs = lengthsMs
    this.#starts = lengthsMs.map(() => CLOSED)
    this.#used = lengthsMs.map(() => CLOSED)
    this.nowMs = nowMs
  }

  get moment(): Moment {
    return { steadyMs: this.nowMs, wallMs: this.nowMs }
  }

  callsOf(process: string): SimulatedCalls {
    return {
      grant: (_, request) => Promise.resolve(this.#grant(process, request)),
      refund: (_, grant, [tokens = 0]) => Promise.resolve([this.#refund(grant, tokens)]),
    }
  }

  /** Tokens given back to windows with these starts, outside of a lease. */
  refund(starts: readonly number[], [tokens = 0]: UnitAmounts): void {
    for (const w of this.#starts.keys()) {
      if (this.#starts[w] === starts[w]) this.#used[w] = Math.max(0, this.#used[w]! - tokens)
    }
  }

  /** Closes every window, as a reset by another process does. */
  close(): void {
    this.#used.fill(CLOSED)
  }

  #grant(process: string, { limits, mayOpen, leaseId, ...request }: GrantRequest): GrantReply {
    const [[wanted = 0], [idle = 0]] = [request.wanted, request.idle]
    const costs = request.costs.map(([cost = 0]) => cost)
    this.grants++
    // Behind all others, so that those who were not heard of for long are in front.
    this.#seenAt.delete(process)
    this.#seenAt.set(process, this.nowMs)
    const cells = new Float64Array(this.#starts.flatMap((start, w) => [start, this.#used[w]!]))
    const rooms = limits.map((limit, w) => limit - (this.#isOpen(w) ? this.#used[w]! : 0))
    const anyClosed = this.#starts.some((_, w) => !this.#isOpen(w))
    const full = Math.min(...rooms)
    let room = full
    let charged = 0
    let statuses = ''
    for (const cost of costs) {
      if (cost > room) statuses += 'r'
      else if (anyClosed && !mayOpen) statuses += 'w'
      else {
        statuses += 'a'
        room -= cost
        charged += cost
      }
    }
    const most = Math.max(1, ...costs)
    let extra = 0
    if (!statuses.includes('r') && (!anyClosed || charged > 0) && full >= 100 * this.#live() * most) {
      const share = Math.min(Math.ceil((full + idle) / (2 * this.#live())) - idle, wanted + charged)
      extra = Math.max(0, Math.min(share - charged, room))
    }
    const tokens = charged + extra
    if (tokens > 0) this.#debit(tokens)
    if (extra > 0) {
      this.#leases.set(leaseId, tokens)
      this.largestLease = Math.max(this.largestLease, extra)
      this.lastLeases.set(process, extra)
    }
    return {
      now: this.nowMs,
      statuses,
      amounts: [tokens],
      leasedByOthers: [0],
      settingsRevision: '',
      cells,
      sentAt: this.moment,
      isReplicated: true,
    }
  }

  #refund({ id, starts }: Lease['grant'], tokens: number): number {
    const leased = this.#leases.get(id)
    if (leased === undefined) return 0
    this.#leases.delete(id)
    const credited = Math.min(tokens, leased)
    this.refund(starts, [credited])
    return credited
  }

  #debit(tokens: number): void {
    for (const w of this.#starts.keys()) {
      if (this.#isOpen(w)) this.#used[w]! += tokens
      else {
        this.#starts[w] = Math.max(this.nowMs, this.#starts[w]! + 1)
        this.#used[w] = tokens
      }
    }
  }

  #isOpen(w: number): boolean {
    return this.#used[w] !== CLOSED && this.nowMs < this.#starts[w]! + this.#lengthsMs[w]!
  }

  #live(): number {
    for (const [process, seenAt] of this.#seenAt) {
      if (this.nowMs - seenAt < COUNTED_MS) break
      this.#seenAt.delete(process)
    }
    return Math.max(1, this.#seenAt.size)
  }
}
