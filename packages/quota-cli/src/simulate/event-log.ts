import type { Subject } from '@scoregw/quota'
import type { Unit } from '../amounts.ts'

/** One request in a log. */
export interface LoggedEvent {
  /** Epoch milliseconds. */
  readonly at: number
  /** Index into {@link EventLog.subjects}. */
  readonly subject: number
  /** Index into {@link EventLog.operations}. */
  readonly operation: number
  /**
   * Amounts in the order of {@link EventLog.units}, of money in the fractions of its format; `undefined` for the
   * operation's price.
   */
  readonly costs: readonly (number | undefined)[]
  /** Index into {@link EventLog.plans}; 0 for no plan. */
  readonly plan: number
  /** Whether its tokens were refunded when it ended. */
  readonly isRefunded: boolean
  /** The number of its line, from 1, counted over all files. */
  readonly line: number
}

/** A log's requests. Every name is stored once. */
export class EventLog {
  readonly subjects: Subject[] = []
  readonly plans: string[] = ['']
  readonly operations: readonly string[]
  /** The units that the policies count. */
  readonly units: readonly Unit[]
  readonly events: LoggedEvent[] = []
  /** How many requests were earlier than one before them. */
  outOfOrder = 0
  #latest = Number.NEGATIVE_INFINITY
  readonly #subjectAt = new Map<string, number>()
  readonly #planAt = new Map<string, number>([['', 0]])

  constructor(operations: readonly string[], units: readonly Unit[]) {
    this.operations = operations
    this.units = units
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

  add(event: LoggedEvent): void {
    if (event.at < this.#latest) this.outOfOrder++
    this.#latest = Math.max(this.#latest, event.at)
    this.events.push(event)
  }

  /** Sorts the requests by time. Those at the same time keep the log's order. */
  sort(): void {
    if (this.outOfOrder > 0) this.events.sort((a, b) => a.at - b.at)
  }
}

/** A substring would keep the whole original text in memory. */
function copyOf(name: string): string {
  // In UTF-8, lone surrogates, which JSON allows, would all become the same.
  const encoding = Buffer.byteLength(name) === name.length ? 'latin1' : 'utf16le'
  return Buffer.from(name, encoding).toString(encoding)
}
