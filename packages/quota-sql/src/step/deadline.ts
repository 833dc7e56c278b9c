/**
 * A time limit that is judged fairly: when its timer fires late, because the process was busy, the socket gets one more
 * look before the limit is over.
 */
export class Deadline {
  /** Resolves when the limit is over or ended. */
  readonly settled: Promise<void>
  readonly #timer: NodeJS.Timeout
  #state: 'running' | 'met' | 'over' = 'running'
  #settle!: () => void

  constructor(ms: number, onOver: () => void) {
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#timer = setTimeout(() => {
      setImmediate(() => {
        if (this.#end('over')) onOver()
      })
    }, ms)
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Ends the limit; whether it was still running. */
  met(): boolean {
    clearTimeout(this.#timer)
    return this.#end('met')
  }

  #end(state: 'met' | 'over'): boolean {
    if (this.#state !== 'running') return false
    this.#state = state
    this.#settle()
    return true
  }
}
