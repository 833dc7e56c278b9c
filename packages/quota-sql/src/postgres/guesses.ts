import { Asked } from '../step/asked.ts'
import type { Changes } from '../step/changes.ts'
import { type Guess, guessOf } from '../step/guess.ts'
import { KnownRows } from '../step/known-rows.ts'
import type { Operation } from '../step/operation.ts'
import { Step, type Stored } from '../step/step.ts'
import type { DecisionParts } from './decide.ts'

/** Shortest and longest time without guesses after one was wrong, in milliseconds. */
const REST_MS = 20
const LONG_REST_MS = 10_000

/**
 * Decides on rows as they were last seen, so that one statement compares and writes them. That is worth while where a
 * process is nearly alone: each guess that was wrong makes the pause before the next one longer.
 */
export class Guesses {
  readonly #known = new KnownRows()
  /** What the server's clock and settings were when it last answered; `undefined`: it never did. */
  #seen: { readonly now: number; readonly at: number; readonly revision: string } | undefined
  #restMs = REST_MS
  #restsUntil = Number.NEGATIVE_INFINITY

  /** What operations ask for, where it is worth guessing what they come to. */
  asked(operations: readonly Operation[]): Asked | undefined {
    if (this.#seen === undefined || performance.now() < this.#restsUntil) return undefined
    const asked = askedOf(operations)
    return asked !== undefined && this.#known.has(asked) ? asked : undefined
  }

  /** What they come to, as far as anybody knows here; `undefined`: it cannot be told by comparing alone. */
  make(asked: Asked, operations: readonly Operation[], { now, scratch }: DecisionParts): Guess | undefined {
    if (this.#seen === undefined) return undefined
    const { now: then, at, revision } = this.#seen
    const instant = now?.() ?? then + Math.floor(performance.now() - at)
    const stored: Stored = { now: instant, revision, rows: this.#known.of(asked), ids: new Map(), holds: [] }
    const step = new Step(asked, stored, scratch)
    step.load()
    for (const operation of operations) operation.decide(step)
    const guess = guessOf(asked, stored, step.changes().rows)
    if (guess === undefined) this.#rest(REST_MS)
    return guess
  }

  /** What was read and committed otherwise. */
  learn(stored: Stored, changes: Changes): void {
    this.#see(stored.now, stored.revision)
    this.#known.learn(stored, changes)
  }

  right({ rows, revision }: Guess, now: number): void {
    this.#see(now, revision)
    this.#known.learnChanges({ rows: rows.map(({ change }) => change) })
    this.#restMs = Math.max(REST_MS, this.#restMs / 2)
  }

  wrong(): void {
    this.#rest(this.#restMs)
    this.#restMs = Math.min(LONG_REST_MS, this.#restMs * 2)
  }

  #see(now: number, revision: string): void {
    this.#seen = { now, at: performance.now(), revision }
  }

  #rest(ms: number): void {
    this.#restsUntil = performance.now() + ms
  }
}

/** The rows of operations that have nothing else; `undefined` where one of them has. */
function askedOf(operations: readonly Operation[]): Asked | undefined {
  const asked = new Asked()
  for (const { footprint, isMovable } of operations) {
    if (!isMovable || footprint.ids !== undefined || footprint.countedOwners !== undefined) return undefined
    asked.add(footprint)
  }
  return asked
}
