/** How often ended holds are asked for while somebody listens, in milliseconds. */
const EVERY_MS = 1_000

/** Asks for ended holds, again and again, while somebody wants to hear of them. */
export class HoldWatch {
  readonly #sweep: () => Promise<unknown>
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(sweep: () => Promise<unknown>) {
    this.#sweep = sweep
  }

  /** Begins, if it has not. */
  start(): void {
    // A failed look is followed by the next.
    this.#timer ??= setInterval(() => void this.#sweep().catch(() => undefined), EVERY_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
