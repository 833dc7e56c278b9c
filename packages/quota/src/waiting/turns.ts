/** Numbers the ticks of the event loop in which something is sent. */
export class Turns {
  #turn = 0
  #isOpen = false

  /** The number of this tick, or of the next one in which something is sent. */
  get current(): number {
    return this.#turn
  }

  /** Returns one number for everything that is sent in this tick. */
  send(): number {
    if (!this.#isOpen) {
      this.#isOpen = true
      queueMicrotask(() => {
        this.#isOpen = false
        this.#turn++
      })
    }
    return this.#turn
  }
}
