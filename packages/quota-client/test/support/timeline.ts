import type { PacingClock } from '../../src/index.ts'

/** A clock that jumps from timer to timer once nothing else is left to do. */
export class Timeline implements PacingClock {
  #now = 0
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>()

  readonly now = (): number => this.#now

  readonly timer = (call: () => void, ms: number): (() => void) => {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.timer(resolve, ms))
  }

  get waiting(): number {
    return this.#timers.size
  }

  /** Runs until the work is done. */
  async finish<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const end = () => {
      isDone = true
    }
    work.then(end, end)
    for (;;) {
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
      if (isDone) return work
      const [next] = [...this.#timers].sort((one, other) => one.at - other.at)
      if (next === undefined) throw new Error('nothing is left to happen, and the work is not done')
      this.#timers.delete(next)
      this.#now = next.at
      next.call()
    }
  }
}
