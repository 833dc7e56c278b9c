/** One processor that works on one thing at a time, in the order in which they come. */
export class Processor {
  busyUs = 0
  freeAtUs = 0

  /** @returns when it is done */
  work(fromUs: number, costUs: number): number {
    this.freeAtUs = Math.max(this.freeAtUs, fromUs) + costUs
    this.busyUs += costUs
    return this.freeAtUs
  }
}

/** Waiting times in microseconds, counted in steps of ten. */
export class Waits {
  readonly #counts = new Uint32Array(100_001)
  count = 0

  add(us: number): void {
    this.#counts[Math.min(100_000, Math.floor(us / 10))]! += 1
    this.count++
  }

  /** In milliseconds. */
  quantileMs(share: number): number {
    let left = share * this.count
    for (const [step, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return (step + 1) / 100
    }
    return Number.POSITIVE_INFINITY
  }
}
