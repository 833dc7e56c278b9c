import assert from 'node:assert/strict'
import { layerKey } from '@scoregw/quota/internal'
import type { QuotaStore, TakeReply } from '@scoregw/quota/store'
import { type ModelSpan, ModelWindows } from '../model/model-windows.ts'
import type { CaseContext } from './harness.ts'
import { Probe, type ProbeOptions } from './probe.ts'
import type { Table } from './table.ts'

/** A subject with a key for each layer that an edit may add. */
export const SUBJECT: Readonly<Record<string, string>> = { personal: 'u', team: 't' }

type Names = Pick<ProbeOptions, 'subject' | 'id' | 'limits'> & { readonly category?: string }

/** An admission, kept for a later refund. */
export interface Taken {
  readonly reply: TakeReply
  readonly category: string
  readonly options: Names
}

/** When a case opens its counters: all policies at the start, or one policy before each of its calls. */
export type Manner = 'concurrently' | 'in turn'

/** Several policies on one store, and the expected state of their counters, by name. */
export class Parties {
  readonly #context: CaseContext
  readonly #windows: ModelWindows
  readonly #probes = new Map<Table, Probe>()
  readonly #stores = new Map<Table, QuotaStore>()

  /** With `concurrently`, the first schema uses the store and the others use its peer. */
  constructor(context: CaseContext, manner: Manner, ...schemas: Table[]) {
    this.#context = context
    this.#windows = new ModelWindows(context.clock)
    for (const [index, schema] of schemas.entries()) {
      const store = index === 0 || manner === 'in turn' ? context.store : context.peer
      this.#stores.set(schema, store)
      if (manner === 'concurrently') this.#probes.set(schema, new Probe(store, schema, 99))
    }
  }

  async take(schema: Table, cost: number, options: Names = {}): Promise<Taken> {
    const { category = 'read' } = options
    const reply = await this.probe(schema).admitted(cost, this.#options(schema, options))
    if (cost > 0) {
      for (const [name, span] of this.#names(schema, options)) this.#windows.charge(name, span, cost)
    }
    await this.compare(options.subject)
    return { reply, category, options }
  }

  /** Fills the windows that the schema knows: refused with nothing to spare, admitted with room for one token. */
  async fill(schema: Table, options: Names = {}): Promise<void> {
    const limits = this.#names(schema, options).map(([name, span]) => this.#windows.open(name, span)?.used ?? 0)
    await this.probe(schema).refused(1, this.#options(schema, { ...options, limits }))
    await this.compare(options.subject)
    await this.take(schema, 1, { ...options, limits: limits.map((limit) => limit + 1) })
  }

  async cancel(schema: Table, { reply, options }: Taken, refunds: number): Promise<void> {
    await this.probe(schema).cancel(reply, refunds, this.#options(schema, options))
    for (const [at, [name]] of this.#names(schema, options).entries()) {
      this.#windows.refund(name, reply.states[2 * at] ?? -1, refunds)
    }
    await this.compare(options.subject)
  }

  async reset(schema: Table, options: Names = {}): Promise<void> {
    await this.probe(schema).reset(this.#options(schema, options))
    for (const [name] of this.#names(schema, options)) this.#windows.close(name)
    await this.compare(options.subject)
  }

  async advance(ms: number, subject?: Names['subject']): Promise<void> {
    await this.#context.advance(ms)
    await this.compare(subject)
  }

  /** Checks that each schema sees its categories as expected. */
  async compare(subject: Names['subject'] = SUBJECT): Promise<void> {
    for (const schema of this.#stores.keys()) {
      for (const category of schema.categories) {
        const seen = await this.probe(schema).states(this.#options(schema, { subject, category }))
        const expected: number[] = this.#names(schema, { subject, category }).flatMap(([name, span]) => {
          const { startedAt, used } = this.#windows.open(name, span) ?? { startedAt: -1, used: 0 }
          return [startedAt, used]
        })
        assert.deepEqual(seen, expected, `${category} under ${JSON.stringify(schema.cells)}`)
      }
    }
  }

  probe(schema: Table): Probe {
    const store = this.#stores.get(schema) ?? this.#context.store
    return this.#probes.get(schema) ?? new Probe(store, schema, 99)
  }

  #options({ categories }: Table, { subject = SUBJECT, category = 'read', ...rest }: Names): ProbeOptions {
    return { ...rest, subject, category: categories.indexOf(category) }
  }

  /** The counters of a request by name in the order of a state, with the lengths of their windows. */
  #names({ layers, cells }: Table, { subject = SUBJECT, category = 'read' }: Names): [string, ModelSpan][] {
    return layers.flatMap((layer) =>
      cells.map((cell): [string, ModelSpan] => [
        JSON.stringify([layer.name, category, layerKey(layer, subject), cell.identity]),
        { lengthMs: cell.lengthMs },
      ]),
    )
  }
}
