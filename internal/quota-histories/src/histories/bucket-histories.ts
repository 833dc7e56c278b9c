import assert from 'node:assert/strict'
import { createQuota, type Decision, definePolicy, type Quota } from '@scoregw/quota'
import type { StoreFactory, StoreHarness } from '@scoregw/quota-testkit'
import { SEED } from './run-history.ts'
import { asAnotherProcess } from './world.ts'

/** The kinds of histories, and their checks. */
export type BucketKind =
  /** One limit: each decision matches an ideal bucket, and each refusal names the exact millisecond. */
  | 'one limit'
  /** Refunded reservations and ended holds: charges minus refunds stay within burst and limit. */
  | 'given back'
  /**
   * Clocks that step back: never more than all forward time allows, and no wait is longer than two lengths and 5
   * seconds.
   */
  | 'clock steps'
  /**
   * Limits and bursts change, in time or between two processes: at most a quarter of the larger limit above it, and a
   * token, because tokens are whole.
   */
  | 'changing limits'

export const BUCKET_KINDS: readonly BucketKind[] = ['one limit', 'given back', 'clock steps', 'changing limits']

export interface BucketCounts {
  requests: number
  admitted: number
  /** Refusals that were repeated 1 ms before the instant that they name, and at it. */
  waited: number
  /** The largest excess above burst and limit, as a share of the limit. */
  excess: number
}

const KEPT_AHEAD_MS = 5_000
const LENGTHS_MS = [1_000, 9_973, 60_000, 86_400_000, 366 * 86_400_000]
const LIMITS = [1, 2, 3, 7, 10, 97, 1_000, 999_983, 1e9, 99_999_999_977]
const SMALL = [1, 2, 3, 7, 10, 97]
/** The subjects of a history, who request in one batch. */
const SUBJECTS = 12
const ROUNDS = 40

interface BucketLimits {
  readonly limit: number
  readonly burst: number
}

/** An ideal bucket in fractions of a token, where `perMs` fractions are one token. It uses no code of the library. */
class Ideal {
  readonly #perMs: bigint
  #level: bigint
  #at: number

  constructor(perMs: number, { burst }: BucketLimits, now: number) {
    this.#perMs = BigInt(perMs)
    this.#level = BigInt(burst) * this.#perMs
    this.#at = now
  }

  turnTo(now: number, { limit, burst }: BucketLimits): void {
    const most = BigInt(burst) * this.#perMs
    const level = this.#level + BigInt(now - this.#at) * BigInt(limit)
    this.#level = level < most ? level : most
    this.#at = now
  }

  get tokens(): number {
    return Number(this.#level / this.#perMs)
  }

  take(cost: number): boolean {
    const rest = this.#level - BigInt(cost) * this.#perMs
    if (rest >= 0n) this.#level = rest
    return rest >= 0n
  }

  /** When a cost fits, without other charges. */
  fitsAt(cost: number, { limit }: BucketLimits): number {
    const missing = BigInt(cost) * this.#perMs - this.#level
    return missing <= 0n ? this.#at : this.#at + Number((missing + BigInt(limit) - 1n) / BigInt(limit))
  }
}

/** The largest charge in any period beyond what the limit allows in it, in fractions as in {@link Ideal}. */
class Excess {
  readonly #perMs: bigint
  #sum = 0n

  constructor(perMs: number) {
    this.#perMs = BigInt(perMs)
  }

  passed(ms: number, limit: number): void {
    const rest = this.#sum - BigInt(ms) * BigInt(limit)
    this.#sum = rest > 0n ? rest : 0n
  }

  charged(tokens: number): void {
    const sum = this.#sum + BigInt(tokens) * this.#perMs
    this.#sum = sum > 0n ? sum : 0n
  }

  above({ limit, burst }: BucketLimits): number {
    return Number(this.#sum - BigInt(burst) * this.#perMs) / Number(this.#perMs) / limit
  }
}

interface Given {
  readonly kind: BucketKind
  readonly harness: StoreHarness
  readonly number: number
  readonly int: (below: number) => number
  readonly counts: BucketCounts
}

/**
 * Plays buckets on a store as two concurrent processes, and compares with an ideal one of exact fractions.
 *
 * @throws {Error} at the first difference, with the seed
 */
export async function runBucketHistories(
  factory: StoreFactory,
  { kind, requests, seed = SEED }: { kind: BucketKind; requests: number; seed?: number },
): Promise<BucketCounts> {
  const counts: BucketCounts = { requests: 0, admitted: 0, waited: 0, excess: Number.NEGATIVE_INFINITY }
  const int = numbersFrom(seed)
  for (let number = 0; counts.requests < requests; ) {
    const harness = await factory({})
    try {
      for (const last = number + 20; number < last && counts.requests < requests; number++) {
        await play({ kind, harness, number, int, counts })
      }
    } catch (error) {
      throw new Error(`${kind}, seed ${seed}, history ${number}: ${String(error)}`, { cause: error })
    } finally {
      await harness.stop()
    }
  }
  return counts
}

async function play(given: Given): Promise<void> {
  const { kind, int, harness } = given
  const perMs = pick(int, LENGTHS_MS)
  const anyLimits = (): BucketLimits => {
    const limit = pick(int, kind === 'changing limits' ? SMALL : LIMITS)
    return { limit, burst: 1 + int(limit) }
  }
  const one = anyLimits()
  const other = kind === 'changing limits' ? anyLimits() : one
  const limits = [one, other] as const
  const engines = [engineOf(harness, { perMs, ...one }, false), engineOf(harness, { perMs, ...other }, true)] as const
  const history = new History(given, { perMs, limits, engines })
  for (let round = 0; round < ROUNDS; round++) await history.round(round)
}

function engineOf(
  { store, peer, clock }: StoreHarness,
  { perMs, ...limits }: BucketLimits & { readonly perMs: number },
  isPeer: boolean,
): Quota {
  const policy = definePolicy({
    limits: { bucket: { by: 'user', per: `${perMs}ms`, ...limits } },
    operations: { go: {} },
  })
  return createQuota({
    policy,
    store: asAnotherProcess((isPeer ? peer : store) ?? store),
    clock,
    logger: false,
    deadlineMs: 60_000,
  })
}

/** A subject of one bucket, and its expected state. */
interface Subject {
  readonly name: string
  readonly ideal: Ideal
  readonly excess: Excess
  /** Holds by their ends. */
  readonly held: { readonly cost: number; readonly endsAt: number; readonly cancel: () => Promise<void> }[]
}

/** Two engines that share a store, and the limits of each. */
interface Played {
  readonly perMs: number
  readonly limits: readonly [BucketLimits, BucketLimits]
  readonly engines: readonly [Quota, Quota]
}

class History {
  readonly #given: Given
  readonly #perMs: number
  readonly #limits: readonly [BucketLimits, BucketLimits]
  readonly #engines: readonly [Quota, Quota]
  readonly #subjects: readonly Subject[]
  /** The larger of both limits. */
  readonly #most: BucketLimits
  readonly #changesAt: number
  readonly #refused: { quota: Quota; subject: string; operation: string; cost: number; resetAt: number }[] = []

  constructor(given: Given, { perMs, limits, engines }: Played) {
    this.#given = given
    this.#perMs = perMs
    this.#limits = limits
    this.#engines = engines
    const [one, other] = limits
    this.#most = { limit: Math.max(one.limit, other.limit), burst: Math.max(one.burst, other.burst) }
    this.#changesAt = given.int(2) === 0 ? -1 : given.int(ROUNDS)
    const now = given.harness.clock.now()
    this.#subjects = Array.from({ length: SUBJECTS }, (_, at) => ({
      name: `${given.number} ${at}`,
      ideal: new Ideal(perMs, one, now),
      excess: new Excess(perMs),
      held: [],
    }))
  }

  async round(round: number): Promise<void> {
    const { int, kind, harness } = this.#given
    await this.#turn()
    if (kind === 'given back') await this.#refund()
    const now = harness.clock.now()
    await Promise.all(
      this.#subjects.map(async (subject) => {
        // A change in time, or two concurrent processes.
        const at = this.#changesAt < 0 ? int(2) : Number(round >= this.#changesAt)
        await this.#request(subject, at === 0 ? 0 : 1, now)
      }),
    )
    await this.#wait(now)
  }

  /** Repeats the first refusal that is due: a millisecond before its instant, and at it. */
  async #wait(now: number): Promise<void> {
    const { harness, counts } = this.#given
    const [first] = this.#refused.splice(0).sort((a, b) => a.resetAt - b.resetAt)
    if (first === undefined) return
    counts.waited++
    const { quota, resetAt, ...request } = first
    if (resetAt - 1 > now) await harness.advance(resetAt - 1 - now)
    assert.equal((await quota.peek(request)).allowed, false, `${JSON.stringify(request)} 1 ms before ${resetAt}`)
    await harness.advance(1)
    assert.equal((await quota.peek(request)).allowed, true, `${JSON.stringify(request)} at ${resetAt}`)
  }

  async #turn(): Promise<void> {
    const { int, kind, harness } = this.#given
    const { limit } = this.#limits[0]
    const perMs = this.#perMs
    const steps = [
      0,
      0,
      1,
      Math.floor(perMs / limit),
      Math.ceil(perMs / limit),
      int(Math.ceil(perMs / 10)),
      int(perMs),
      int(3 * perMs),
    ]
    const ms = pick(int, steps)
    if (ms > 0) await harness.advance(ms)
    for (const { excess } of this.#subjects) excess.passed(ms, this.#most.limit)
    if (kind === 'clock steps' && int(6) === 0) await harness.stepClock?.(-pick(int, [1, 3, 700, 4_000, 6_000, 50_000]))
  }

  /** Ends expired holds, and some others. */
  async #refund(): Promise<void> {
    const { int, harness } = this.#given
    for (const engine of this.#engines) await engine.holds.sweep()
    const now = harness.clock.now()
    for (const { held, excess } of this.#subjects) {
      for (const hold of held.splice(0)) {
        const isDue = now >= hold.endsAt
        if (!isDue && int(3) > 0) {
          held.push(hold)
          continue
        }
        if (!isDue) await hold.cancel()
        excess.charged(-hold.cost)
      }
    }
  }

  async #request(subject: Subject, at: 0 | 1, now: number): Promise<void> {
    const { int, kind, counts } = this.#given
    const [quota, limits] = [this.#engines[at], this.#limits[at]]
    const cost = pick(int, [
      1,
      1,
      2,
      Math.ceil(limits.burst / 3),
      limits.burst,
      limits.burst + 1,
      1 + int(limits.burst),
    ])
    const request = { subject: subject.name, operation: 'go', cost }
    counts.requests++
    let decision: Decision
    if (kind === 'given back' && int(2) === 0) {
      const ttlMs = Math.min(this.#perMs, 1 + int(this.#perMs))
      const reservation = await quota.reserve({ ...request, ttlMs: Math.min(ttlMs, 86_400_000) })
      assert.ok(reservation.status === 'reserved' || reservation.status === 'refused')
      decision = reservation.decision
      if (reservation.status === 'reserved')
        subject.held.push({ cost, endsAt: reservation.endsAt ?? now, cancel: () => reservation.cancel() })
    } else decision = await quota.consume(request)
    if (decision.allowed) {
      counts.admitted++
      subject.excess.charged(cost)
    }
    if (kind === 'one limit') {
      this.#isIdeal(subject, decision, cost)
      if (!decision.allowed && decision.retryable) this.#refused.push({ quota, ...request, resetAt: decision.resetAt })
      return
    }
    const above = subject.excess.above(this.#most)
    counts.excess = Math.max(counts.excess, above)
    assert.ok(
      above <= (kind === 'changing limits' ? 1 / 4 + 1 / this.#most.limit : 0),
      `${above} of the limit above, ${JSON.stringify(limits)}`,
    )
    if (!decision.allowed && decision.retryable)
      assert.ok(decision.resetAt - now <= 2 * this.#perMs + KEPT_AHEAD_MS, `${decision.resetAt - now} ms to wait`)
  }

  #isIdeal({ ideal }: Subject, decision: Decision, cost: number): void {
    const limits = this.#limits[0]
    ideal.turnTo(decision.now, limits)
    const fitsAt = ideal.fitsAt(cost, limits)
    const where = JSON.stringify({ ...limits, perMs: this.#perMs, cost, decision })
    assert.equal(decision.allowed, ideal.take(cost), where)
    assert.equal(decision.limits.bucket?.remaining, ideal.tokens, where)
    if (decision.allowed) return
    assert.equal(decision.retryable, cost <= limits.burst, where)
    if (decision.retryable) assert.equal(decision.resetAt, fitsAt, where)
  }
}

function pick<T>(int: (below: number) => number, list: readonly T[]): T {
  return list[int(list.length)] as T
}

/** Random whole numbers below a bound, reproducible by the seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
