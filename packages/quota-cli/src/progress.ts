import type { Io } from './io.ts'

/** How often the progress line is updated, in milliseconds. */
const EVERY_MS = 150

/** A progress line on a terminal; does nothing elsewhere. */
export class Progress {
  readonly #io: Io
  #shownAt = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(io: Io) {
    this.#io = io
  }

  show(text: () => string): void {
    if (!this.#io.showsProgress) return
    const now = performance.now()
    if (now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    this.#isShown = true
    this.#io.err(`\r\u001b[K${text()}`)
  }

  /** Clears the line. */
  end(): void {
    if (this.#isShown) this.#io.err('\r\u001b[K')
    this.#isShown = false
  }
}
