import type { ParsedQueueOptions } from './options.ts'

/** Counts who waits, in total and by the subjects' keys. */
export class Room {
  readonly #options: Pick<ParsedQueueOptions, 'maxWaiting' | 'maxWaitingPerSubject'>
  readonly #byKey = new Map<string, number>()
  #waiting = 0

  constructor(options: Pick<ParsedQueueOptions, 'maxWaiting' | 'maxWaitingPerSubject'>) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting
  }

  /** Counts one more waiter. @returns whether there was room */
  enter(key: string): boolean {
    const { maxWaiting, maxWaitingPerSubject } = this.#options
    const ofKey = this.#byKey.get(key) ?? 0
    if (this.#waiting >= maxWaiting || ofKey >= maxWaitingPerSubject) return false
    this.#waiting++
    this.#byKey.set(key, ofKey + 1)
    return true
  }

  leave(key: string): void {
    this.#waiting--
    const left = this.#byKey.get(key)! - 1
    if (left === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, left)
  }
}
