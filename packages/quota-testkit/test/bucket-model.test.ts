import assert from 'node:assert/strict'
import { randomRuns, testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../src/index.ts'
import { ModelWindows } from '../src/model.ts'
import { BUCKET_MUTANTS } from './bucket-mutants.ts'

// Stores are compared with the model, and here the model with an ideal bucket of exact fractions.

const HISTORIES = randomRuns(400, 20_000)
const ROUNDS = 40
const KEPT_AHEAD_MS = 5_000
const LENGTHS_MS = [1_000, 9_973, 60_000, 86_400_000, 366 * 86_400_000]
const LIMITS = [1, 2, 3, 7, 10, 97, 1_000, 999_983, 1e9, 99_999_999_977]
const SMALL = [1, 2, 3, 7, 10, 97]
const STEPS_BACK_MS = [1, 3, 700, 4_000, 6_000, 50_000]

const KINDS = {
  'one limit': 'each decision is that of an ideal bucket, and each refusal names the exact millisecond',
  'given back': 'charges without refunds stay within burst and limit',
  'clock steps': 'no more is charged than all forward time allows, and no wait is longer than two lengths and 5 s',
  'changing limits': 'at most a quarter of the larger limit is charged above it, and a token, because tokens are whole',
} as const
type Kind = keyof typeof KINDS

interface Limits {
  readonly limit: number
  readonly burst: number
}

/** An ideal bucket in fractions of a token, where `perMs` fractions are one token. */
class Ideal {
  readonly #perMs: bigint
  #level: bigint
  #at: number

  constructor(perMs: number, { burst }: Limits, now: number) {
    this.#perMs = BigInt(perMs)
    this.#level = BigInt(burst) * this.#perMs
    this.#at = now
  }

  turnTo(now: number, { limit, burst }: Limits): void {
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
  fitsAt(cost: number, { limit }: Limits): number {
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

  /** As a share of the limit. */
  above({ limit, burst }: Limits): number {
    return Number(this.#sum - BigInt(burst) * this.#perMs) / Number(this.#perMs) / limit
  }
}

type Random = (below: number) => number

function pick<T>(int: Random, list: readonly T[]): T {
  return list[int(list.length)]!
}

/** Random whole numbers below a bound, reproducible by the seed. */
function numbersFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Plays one bucket under one limit, or two that change. Returns how often it admitted and refused. */
function play(kind: Kind, Windows: typeof ModelWindows, int: Random): { admitted: number; refused: number } {
  const perMs = pick(int, LENGTHS_MS)
  const anyLimits = (): Limits => {
    const limit = pick(int, kind === 'changing limits' ? SMALL : LIMITS)
    return { limit, burst: 1 + int(limit) }
  }
  const one = anyLimits()
  const other = kind === 'changing limits' ? anyLimits() : one
  const most = { limit: Math.max(one.limit, other.limit), burst: Math.max(one.burst, other.burst) }
  const clock = manualClock()
  const windows = new Windows(clock)
  const [ideal, excess] = [new Ideal(perMs, one, clock.now()), new Excess(perMs)]
  const charges: { readonly startedAt: number; readonly cost: number }[] = []
  const counts = { admitted: 0, refused: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const perToken = perMs / one.limit
    const ms = pick(int, [
      0,
      0,
      1,
      Math.floor(perToken),
      Math.ceil(perToken),
      int(perMs / 10),
      int(perMs),
      int(3 * perMs),
    ])
    clock.advance(ms)
    excess.passed(ms, most.limit)
    if (kind === 'clock steps' && int(6) === 0) clock.advance(-pick(int, STEPS_BACK_MS))
    if (kind === 'given back')
      for (const { startedAt, cost } of charges.splice(0, int(3))) {
        windows.refund('bucket', startedAt, cost)
        excess.charged(-cost)
      }
    const limits = int(2) === 0 ? one : other
    const { limit, burst } = limits
    const cost = pick(int, [1, 1, 2, Math.ceil(burst / 3), burst, burst + 1, 1 + int(burst)])
    const span = { perMs, rate: limit }
    const open = windows.open('bucket', span)
    const isAdmitted = (open?.used ?? 0) + cost <= burst
    if (isAdmitted) {
      charges.push({ startedAt: windows.charge('bucket', span, cost), cost })
      excess.charged(cost)
    } else windows.moveToThePresent('bucket')
    counts[isAdmitted ? 'admitted' : 'refused']++
    const now = clock.now()
    const fitsAt = open === undefined || isAdmitted || cost > burst ? now : windows.enoughAt(open, span, burst - cost)
    const where = JSON.stringify({ ...limits, perMs, cost, now })
    if (kind === 'one limit') {
      ideal.turnTo(now, limits)
      if (!isAdmitted && cost <= burst) assert.equal(fitsAt, ideal.fitsAt(cost, limits), where)
      assert.equal(isAdmitted, ideal.take(cost), where)
      assert.equal(burst - (windows.open('bucket', span)?.used ?? 0), ideal.tokens, where)
    } else {
      const above = excess.above(most)
      assert.ok(
        above <= (kind === 'changing limits' ? 1 / 4 + 1 / most.limit : 0),
        `${above} of the limit above, ${where}`,
      )
      assert.ok(fitsAt - now <= 2 * perMs + KEPT_AHEAD_MS, `${fitsAt - now} ms to wait, ${where}`)
    }
  }
  return counts
}

function playAll(kind: Kind, Windows: typeof ModelWindows, histories = HISTORIES) {
  const int = numbersFrom(testSeed)
  const all = Array.from({ length: histories }, () => play(kind, Windows, int))
  const sum = (of: 'admitted' | 'refused') => all.reduce((total, counts) => total + counts[of], 0)
  return { admitted: sum('admitted'), refused: sum('refused') }
}

describe('buckets of the model', () => {
  it.each(Object.entries(KINDS) as [Kind, string][])('%s: %s', (kind) => {
    const { admitted, refused } = playAll(kind, ModelWindows)
    expect(Math.min(admitted, refused)).toBeGreaterThan((HISTORIES * ROUNDS) / 10)
  })

  /** Each rule left out, and the histories that break a promise then. */
  it.each([
    ['what comes back is counted in doubles', 'one limit'],
    ['a token comes back each so many whole milliseconds', 'one limit'],
    ['a full bucket goes on', 'one limit'],
    ['the start never moves', 'one limit'],
    ['the start moves to the instant, by whole tokens', 'one limit'],
    ['a bucket ends with its length', 'one limit'],
    ['a clock that steps back gives tokens', 'clock steps'],
  ] as const)('the fault “%s” is found by histories of %s', (fault, kind) => {
    const { Windows } = BUCKET_MUTANTS.find((each) => each.fault === fault)!
    expect(() => playAll(kind, Windows!, 2_000)).toThrow(assert.AssertionError)
  })
})
