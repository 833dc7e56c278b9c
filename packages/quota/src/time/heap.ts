import { systemStopwatch } from './clock.ts'

/** A node of a heap. `at` is its index there; -1: it isn't in a heap. */
export interface Node {
  at: number
}

/** A binary heap that tracks its nodes' indices, so that any node can be removed in O(log n). */
export class Heap<T extends Node> {
  readonly #nodes: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get first(): T | undefined {
    return this.#nodes[0]
  }

  get size(): number {
    return this.#nodes.length
  }

  /** Adds a new node, or moves one whose order changed. */
  put(node: T): void {
    if (node.at === -1) node.at = this.#nodes.push(node) - 1
    this.#settle(node)
  }

  remove(node: T): void {
    if (node.at === -1) return
    const last = this.#nodes.pop()!
    if (last !== node) {
      last.at = node.at
      this.#nodes[last.at] = last
      this.#settle(last)
    }
    node.at = -1
  }

  pop(): T | undefined {
    const { first } = this
    if (first !== undefined) this.remove(first)
    return first
  }

  #settle(node: T): void {
    const nodes = this.#nodes
    let { at } = node
    for (let up = (at - 1) >> 1; at > 0 && this.#before(node, nodes[up]!); up = (at - 1) >> 1) at = this.#move(up, at)
    for (;;) {
      let down = 2 * at + 1
      if (down + 1 < nodes.length && this.#before(nodes[down + 1]!, nodes[down]!)) down++
      if (down >= nodes.length || !this.#before(nodes[down]!, node)) break
      at = this.#move(down, at)
    }
    nodes[at] = node
    node.at = at
  }

  #move(from: number, to: number): number {
    const node = this.#nodes[from]!
    this.#nodes[to] = node
    node.at = to
    return from
  }
}

/** A node with an instant of the stopwatch. */
interface Timed extends Node {
  readonly due: number
}

/** All alarms of a queue, with one timer. It keeps the process alive while there is an alarm. */
export class Alarms<Alarm extends Timed> {
  readonly #alarms: Heap<Alarm> = new Heap((a, b) => a.due < b.due)
  readonly #ring: (due: readonly Alarm[]) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Tests replace the global timers, and those that were set before never fire then. */
  #setBy: typeof setTimeout | undefined
  #timerDue = Number.POSITIVE_INFINITY

  /** @param ring called with the alarms that are due; they are no longer set */
  constructor(ring: (due: readonly Alarm[]) => void) {
    this.#ring = ring
  }

  /** Sets an alarm, or moves it. Call {@link start} afterwards. */
  put(alarm: Alarm): void {
    this.#alarms.put(alarm)
  }

  remove(alarm: Alarm): void {
    this.#alarms.remove(alarm)
  }

  /** Sets the timer for the next alarm. If it fires early, nothing is due and it is set again. */
  start(): void {
    const due = this.#alarms.first?.due ?? Number.POSITIVE_INFINITY
    const isSet = due === this.#timerDue || (due > this.#timerDue && due < Number.POSITIVE_INFINITY)
    if (isSet && this.#setBy === setTimeout) return
    clearTimeout(this.#timer)
    this.#timerDue = due
    this.#setBy = setTimeout
    if (due < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.#rang(), Math.max(0, Math.ceil(due - systemStopwatch())))
  }

  #rang(): void {
    this.#timerDue = Number.POSITIVE_INFINITY
    const now = systemStopwatch()
    const due: Alarm[] = []
    for (let first = this.#alarms.first; first !== undefined && first.due <= now; first = this.#alarms.first) {
      this.#alarms.remove(first)
      due.push(first)
    }
    this.#ring(due)
  }
}
