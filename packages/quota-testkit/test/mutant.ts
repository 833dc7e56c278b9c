import type { Clock } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import type { StoreCapability, StoreFactory } from '../src/index.ts'
import { manualFactory } from './manual-factory.ts'
import { type MapCounters, mapStore } from './map-store.ts'

/** A store with one fault. */
export interface Mutant {
  readonly fault: string
  /** Counters with the fault. */
  readonly Counters?: typeof MapCounters
  /** A store with the fault, where it is not in the counters of one schema. */
  readonly make?: (clock: Clock) => QuotaStore
  /** @default ids, sync, clock-steps, regroup */
  readonly capabilities?: readonly StoreCapability[]
  /** Of random histories among the first of which one shows it; any other would do after some more. */
  readonly seed?: number
  /** Random histories cannot see it: it needs another harness, another text or another size than they use. */
  readonly unseenByHistories?: boolean
}

export function factoryOf({ Counters, make, capabilities }: Mutant): StoreFactory {
  return manualFactory(make ?? ((clock) => mapStore(clock, Counters)), capabilities)
}
