/**
 * Events by time, in microseconds of a virtual clock: a binary heap. Of two at one instant the first added is first.
 */
export class Timeline {
  nowUs = 0
  #added = 0
  readonly #heap: { readonly atUs: number; readonly order: number; readonly happen: () => void }[] = []

  /** @param atUs not before now */
  at(atUs: number, happen: () => void): void {
    const heap = this.#heap
    let index = heap.push({ atUs: Math.max(atUs, this.nowUs), order: this.#added++, happen }) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(index, parent)) return
      this.#swap(index, parent)
      index = parent
    }
  }

  /** Lets the next thing happen; false where nothing is left until then. */
  next(untilUs: number): boolean {
    const heap = this.#heap
    const first = heap[0]
    if (first === undefined || first.atUs > untilUs) return false
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    this.nowUs = first.atUs
    first.happen()
    return true
  }

  #sink(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      let least = index
      if (left < this.#heap.length && this.#isBefore(left, least)) least = left
      if (right < this.#heap.length && this.#isBefore(right, least)) least = right
      if (least === index) return
      this.#swap(index, least)
      index = least
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a]!, this.#heap[b]!]
    return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order)
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const one = heap[a]!
    heap[a] = heap[b]!
    heap[b] = one
  }
}
