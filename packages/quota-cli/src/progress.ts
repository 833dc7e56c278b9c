import type { Io } from './io.ts'

/** How often a line of progress is written anew, in milliseconds. */
const EVERY_MS = 150

/** One line on a terminal that says how far a long work is; nothing where nobody looks. */
export class Progress {
  readonly #io: Io
  #toldAt = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(io: Io) {
    this.#io = io
  }

  tell(text: () => string): void {
    if (!this.#io.showsProgress) return
    const now = performance.now()
    if (now - this.#toldAt < EVERY_MS) return
    this.#toldAt = now
    this.#isShown = true
    this.#io.err(`\r\u001b[K${text()}`)
  }

  /** Leaves the line empty. */
  end(): void {
    if (this.#isShown) this.#io.err('\r\u001b[K')
    this.#isShown = false
  }
}
