import type { Clock } from '@scoregw/quota'
import { Layout, nth } from '@scoregw/quota/internal'
import type { Connection } from '../connection/connection.ts'
import type { Counters } from '../counters/counters.ts'
import type { Keys } from '../keys/keys.ts'
import { elapsedMs, momentBy } from './lease.ts'
import type { LeaseCounts } from './lease-report.ts'
import { SharedCalls } from './shared-calls.ts'
import { SharedPool } from './shared-pool.ts'
import { positionsOf, spread, statesOf } from './split.ts'

export interface PoolsDeps {
  /** A separate connection, because waiting for replicas delays the commands behind it. */
  readonly connection: Connection
  readonly replicas: (server: Connection) => Promise<number>
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** A unique id of this process. */
  readonly process: string
  readonly counts: LeaseCounts
}

/**
 * The pools of one store. Policies with the same shared layers and list of limits spend from the same leases.
 */
export class Pools {
  readonly #deps: PoolsDeps
  readonly #pools = new Map<string, SharedPool>()
  readonly #calls = new Map<Keys, SharedCalls>()
  #leaseCount = 0

  constructor(deps: PoolsDeps) {
    this.#deps = deps
  }

  get all(): readonly SharedPool[] {
    return [...this.#pools.values()]
  }

  /** @param shared the shared layers' counters, under the calling policy */
  of(shared: Counters, layers: readonly number[]): SharedPool {
    const name = nameOf(shared, layers)
    const known = this.#pools.get(name)
    if (known !== undefined) return known
    const { keys } = shared
    const { testClock, counts, process } = this.#deps
    const pool = new SharedPool({
      calls: this.#callsOf(shared),
      layers,
      layout: new Layout({ layers: layers.map((layer) => nth(keys.schema.layers, layer)), sets: [] }),
      units: keys.schema.units.length,
      newLeaseId: () => `${process}:${this.#leaseCount++}`,
      moment: () => momentBy(testClock),
      timeAfter: (seen, now) => testClock?.now() ?? seen.now + Math.max(0, Math.floor(elapsedMs(seen.at, now))),
      counts,
      refund: async (starts, refunds) => {
        const at = positionsOf(keys.layout, layers)
        const states = statesOf(spread(keys.layout, at, starts))
        await shared.settle({ subject: '', set: 0, layers, states, refunds, as: 'cancelled' })
      },
    })
    this.#pools.set(name, pool)
    return pool
  }

  #callsOf({ keys }: Counters): SharedCalls {
    const known = this.#calls.get(keys)
    if (known !== undefined) return known
    const calls = new SharedCalls({ ...this.#deps, keys })
    this.#calls.set(keys, calls)
    return calls
  }
}

function nameOf({ keys: { schema, layout } }: Counters, layers: readonly number[]): string {
  return JSON.stringify(layers.map((layer) => [nth(schema.layers, layer).name, layout.rowAt(layer).list]))
}
