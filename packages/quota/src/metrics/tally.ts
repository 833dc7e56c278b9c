import { Counter, type Registry, type RegistryContentType } from 'prom-client'
import { CountTable, type LabelValues } from './count-table.ts'

/** What a {@link Tally} counts under. */
export interface TallyOptions {
  readonly name: string
  readonly help: string
  readonly registry: Registry<RegistryContentType>
  /** All combinations are there from the beginning, at 0. */
  readonly labels: LabelValues
}

/** A counter of prom-client that is raised in a table. */
export class Tally {
  readonly counter: Counter
  readonly #table: CountTable

  constructor({ name, help, registry, labels }: TallyOptions) {
    this.#table = new CountTable(labels)
    this.counter = new Counter({
      name,
      help,
      registers: [registry],
      labelNames: Object.keys(labels),
      collect: () => this.#handOver(),
    })
    for (const combination of this.#table.combinations) this.counter.inc(combination, 0)
  }

  /** @param values one of each label, in the order of the labels */
  raise(by: number, ...values: readonly string[]): void {
    this.#table.raise(by, ...values)
  }

  #handOver(): void {
    const { counts, combinations } = this.#table
    for (const [at, by] of counts.entries()) {
      if (by === 0) continue
      counts[at] = 0
      this.counter.inc(combinations[at]!, by)
    }
  }
}
