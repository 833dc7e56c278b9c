import type { Clock } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { manualClock, type StoreCapability, type StoreFactory } from '../src/index.ts'

/** A store in this process, on a clock that is turned by hand. */
export function manualFactory(
  make: (clock: Clock) => QuotaStore,
  capabilities: readonly StoreCapability[] = ['ids', 'sync', 'clock-steps', 'regroup'],
): StoreFactory {
  return () => {
    const clock = manualClock()
    const { advance } = clock
    return { store: make(clock), capabilities, clock, advance, stepClock: advance, stop: () => undefined }
  }
}
