import type { StoreAbilities } from '@scoregw/quota/store'
import { type Counters, type CountersDeps, openCounters } from '../counters/counters.ts'

export const CAN: StoreAbilities = {
  calendar: true,
  holds: true,
  concurrency: 'all',
  fit: true,
  bucket: true,
  sets: true,
}

/** The counters that a store has opened on one connection, and their end. */
export class OpenedCounters {
  readonly #deps: Omit<CountersDeps, 'schema'>
  readonly #all: Counters[] = []
  #closing: Promise<void> | undefined

  constructor(deps: Omit<CountersDeps, 'schema'>) {
    this.#deps = deps
  }

  /** @param isSwept whether expired holds are refunded on a timer */
  open(schema: CountersDeps['schema'], isSwept = false): Counters {
    const counters = openCounters({ ...this.#deps, schema })
    if (isSwept) counters.holds.sweeper.start()
    if (this.#closing !== undefined) void counters.close()
    this.#all.push(counters)
    return counters
  }

  /** Waits for calls in flight, at most one deadline, then closes the connection. Later calls reject. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#all.map((counters) => counters.close())).then(() =>
      this.#deps.connection.close(),
    )
    return this.#closing
  }
}
