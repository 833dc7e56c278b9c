import type { ReportedLimit } from './read-limits.ts'

interface KnownLimit {
  /** According to the last report. */
  readonly reported: number
  /** What remains for requests that haven't been sent. */
  left: number
  readonly resetAt: number
  /** By how much the last request lowered the limit, including what other clients used at the same time. */
  readonly drop: number | undefined
  /** The expected cost of a request: the smaller of the last two drops. A single pause then has no effect. */
  readonly price: number
}

/** A request in flight. */
export interface Ticket {
  /** How many reports had arrived when it was sent. */
  readonly reports: number
}

/** The known limits of one key, and when the next request can be sent. */
export class Pace {
  readonly #limits = new Map<string, KnownLimit>()
  #inFlight = 0
  #reports = 0
  #blockedUntil = Number.NEGATIVE_INFINITY
  /** Whether more than one request can be sent at a time: only after a response has shown the limits. */
  #isLearnt = false
  readonly #waiting = new Set<() => void>()

  /** When the next request can be sent. `Infinity`: that depends on a response in flight. */
  until(now: number): number {
    if (this.#blockedUntil > now) return this.#blockedUntil
    const untilReport = this.#inFlight > 0 ? Number.POSITIVE_INFINITY : now
    let until = this.#isLearnt ? now : untilReport
    for (const { left, price, resetAt } of this.#limits.values()) {
      if (left < price) until = Math.max(until, resetAt > now ? resetAt : untilReport)
    }
    return until
  }

  send(): Ticket {
    this.#inFlight++
    for (const limit of this.#limits.values()) limit.left -= limit.price
    return { reports: this.#reports }
  }

  /** A request ended without a response. */
  fail(): void {
    this.#inFlight--
    this.#wake()
  }

  /** @param limits with spread `resetMs`, so that waiting requests aren't all sent at one instant */
  report(ticket: Ticket, limits: readonly ReportedLimit[], now: number): void {
    this.#inFlight--
    this.#isLearnt = true
    // Responses that arrived meanwhile may have been counted before it or after it, so the smaller figure applies.
    const isNewest = ticket.reports === this.#reports++
    const named = new Set(limits.map(({ name }) => name))
    for (const [name, { resetAt }] of this.#limits) {
      if (resetAt <= now && !named.has(name)) this.#limits.delete(name)
    }
    for (const limit of limits) {
      const known = this.#limits.get(limit.name)
      const learnt = known === undefined ? this.#first(limit, now) : this.#next(known, limit, now, isNewest)
      this.#limits.set(limit.name, learnt)
    }
    this.#wake()
  }

  #first({ remaining, resetMs }: ReportedLimit, now: number): KnownLimit {
    return { reported: remaining, left: remaining - this.#inFlight, resetAt: now + resetMs, drop: undefined, price: 1 }
  }

  #next(known: KnownLimit, { remaining, resetMs }: ReportedLimit, now: number, isNewest: boolean): KnownLimit {
    const fell = known.reported - remaining
    const isOfOne = isNewest && this.#inFlight === 0 && fell >= 0
    const drop = isOfOne ? fell : known.drop
    const price = isOfOne ? Math.max(1, Math.min(fell, known.drop ?? fell)) : known.price
    const left = remaining - this.#inFlight * price
    const resetAt = now + resetMs
    if (isNewest || known.resetAt <= now) return { reported: remaining, left, resetAt, drop, price }
    return {
      reported: Math.min(known.reported, remaining),
      left: Math.min(known.left, left),
      resetAt: Math.max(known.resetAt, resetAt),
      drop,
      price,
    }
  }

  /** After a refusal, sends nothing before `instant`, and then a single request first. */
  block(instant: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, instant)
    this.#isLearnt = false
  }

  /** Calls the listener once, at the next change. */
  onChange(listener: () => void): () => void {
    this.#waiting.add(listener)
    return () => this.#waiting.delete(listener)
  }

  #wake(): void {
    const listeners = [...this.#waiting]
    this.#waiting.clear()
    for (const listener of listeners) listener()
  }
}
