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
