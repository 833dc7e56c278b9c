import type { QuotaStore } from '@scoregw/quota'
import type { StoreCapability } from '../src/index.ts'
import type { MapStore } from './map-store.ts'

/** A store with one fault. */
export interface Mutant {
  readonly fault: string
  readonly Store: new (...args: ConstructorParameters<typeof MapStore>) => QuotaStore
  /** @default ids, sync, clock-steps */
  readonly capabilities?: readonly StoreCapability[]
  /** Random histories cannot see it: it needs another harness, another text or another size than they use. */
  readonly unseenByHistories?: boolean
}
