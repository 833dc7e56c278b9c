import type { Subject } from '@scoregw/quota'

/** One request in a log. */
export interface LoggedEvent {
  /** Epoch milliseconds. */
  readonly at: number
  /** Index into {@link EventLog.subjects}. */
  readonly subject: number
  /** Index into {@link EventLog.operations}. */
  readonly operation: number
  /** Amounts in the order of {@link EventLog.units}; `undefined` for the operation's price. */
  readonly costs: readonly (number | undefined)[]
  /** Index into {@link EventLog.plans}; 0 for no plan. */
  readonly plan: number
  /** Whether its tokens were refunded when it ended. */
  readonly isRefunded: boolean
  /** The number of its line, from 1, counted over all files. */
  readonly line: number
}

const NO_COST = -1
const FIRST_SIZE = 4_096

/** A log's requests in columns: about 35 bytes each. Every name is stored once. */
export class EventLog {
  readonly subjects: Subject[] = []
  readonly plans: string[] = ['']
  readonly operations: readonly string[]
  /** The units that the policies count. */
  readonly units: readonly string[]
  #length = 0
  #isSorted = true
  #latest = Number.NEGATIVE_INFINITY
  #outOfOrder = 0
  #order: Uint32Array | undefined
  #at = new Float64Array(FIRST_SIZE)
  /** The amounts in all units, request after request. */
  #costs: Float64Array
  #line = new Float64Array(FIRST_SIZE)
  #subject = new Uint32Array(FIRST_SIZE)
  #operation = new Uint16Array(FIRST_SIZE)
  #plan = new Uint16Array(FIRST_SIZE)
  #refunded = new Uint8Array(FIRST_SIZE)
  readonly #subjectAt = new Map<string, number>()
  readonly #planAt = new Map<string, number>([['', 0]])

  constructor(operations: readonly string[], units: readonly string[]) {
    this.operations = operations
    this.units = units
    this.#costs = new Float64Array(FIRST_SIZE * units.length)
  }

  get length(): number {
    return this.#length
  }

  /** How many requests were earlier than one before them. */
  get outOfOrder(): number {
    return this.#outOfOrder
  }

  /** The index of a subject. @param key unique per subject */
  subjectOf(key: string, make: (key: string) => Subject): number {
    const known = this.#subjectAt.get(key)
    if (known !== undefined) return known
    const kept = copyOf(key)
    const at = this.subjects.push(make(kept)) - 1
    this.#subjectAt.set(kept, at)
    return at
  }

  /** The index of a plan; `undefined` if there are too many. */
  planOf(name: string): number | undefined {
    const known = this.#planAt.get(name)
    if (known !== undefined) return known
    if (this.plans.length > 1_000) return undefined
    const kept = copyOf(name)
    const at = this.plans.push(kept) - 1
    this.#planAt.set(kept, at)
    return at
  }

  add({ at, subject, operation, costs, plan, isRefunded, line }: LoggedEvent): void {
    if (this.#length === this.#at.length) this.#grow()
    const index = this.#length++
    this.#order = undefined
    this.#at[index] = at
    this.#subject[index] = subject
    this.#operation[index] = operation
    for (let u = 0; u < costs.length; u++) this.#costs[index * costs.length + u] = costs[u] ?? NO_COST
    this.#plan[index] = plan
    this.#refunded[index] = isRefunded ? 1 : 0
    this.#line[index] = line
    if (at < this.#latest) {
      this.#outOfOrder++
      this.#isSorted = false
    } else {
      this.#latest = at
    }
  }

  /** The indexes of all requests, sorted by time. Requests at the same time keep the log's order. */
  order(): Uint32Array {
    this.#order ??= this.#ordered()
    return this.#order
  }

  /** @param index from {@link order} */
  event(index: number): LoggedEvent {
    const count = this.units.length
    const costs = new Array<number | undefined>(count)
    for (let u = 0; u < count; u++) {
      const amount = this.#costs[index * count + u]!
      costs[u] = amount === NO_COST ? undefined : amount
    }
    return {
      at: this.#at[index]!,
      subject: this.#subject[index]!,
      operation: this.#operation[index]!,
      costs,
      plan: this.#plan[index]!,
      isRefunded: this.#refunded[index] === 1,
      line: this.#line[index]!,
    }
  }

  #ordered(): Uint32Array {
    const order = new Uint32Array(this.#length).map((_, index) => index)
    if (this.#isSorted) return order
    const at = this.#at
    return order.sort((a, b) => at[a]! - at[b]! || a - b)
  }

  #grow(): void {
    const size = this.#at.length * 2
    const larger = <T extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(column: T, into: T): T => {
      into.set(column)
      return into
    }
    this.#at = larger(this.#at, new Float64Array(size))
    this.#costs = larger(this.#costs, new Float64Array(size * this.units.length))
    this.#line = larger(this.#line, new Float64Array(size))
    this.#subject = larger(this.#subject, new Uint32Array(size))
    this.#operation = larger(this.#operation, new Uint16Array(size))
    this.#plan = larger(this.#plan, new Uint16Array(size))
    this.#refunded = larger(this.#refunded, new Uint8Array(size))
  }
}

/** A substring would keep the whole original text in memory. */
function copyOf(name: string): string {
  // In UTF-8, lone surrogates, which JSON allows, would all become the same.
  const encoding = Buffer.byteLength(name) === name.length ? 'latin1' : 'utf16le'
  return Buffer.from(name, encoding).toString(encoding)
}
