/** An entry of an {@link EndQueue}. */
interface Ending {
  readonly endsAt: number
  readonly key: string
}

/** Keys by when something of theirs ends, the earliest first: a binary heap. */
export class EndQueue {
  readonly #heap: Ending[] = []

  /** When the first ends, epoch milliseconds; `Infinity` where there is none. */
  get firstEndsAt(): number {
    return this.#heap[0]?.endsAt ?? Number.POSITIVE_INFINITY
  }

  push(endsAt: number, key: string): void {
    const heap = this.#heap
    let at = heap.push({ endsAt, key }) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.endsAt <= heap[at]!.endsAt) return
      ;[heap[parent], heap[at]] = [heap[at]!, heap[parent]!]
      at = parent
    }
  }

  /** Takes the first out. */
  pop(): string | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined) return undefined
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    return first.key
  }

  #sink(): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= heap.length) return
      const right = left + 1
      const child = right < heap.length && heap[right]!.endsAt < heap[left]!.endsAt ? right : left
      if (heap[at]!.endsAt <= heap[child]!.endsAt) return
      ;[heap[child], heap[at]] = [heap[at]!, heap[child]!]
      at = child
    }
  }
}
