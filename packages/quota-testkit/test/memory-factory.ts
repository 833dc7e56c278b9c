import { memoryStore } from '@scoregw/quota'
import { manualClock, type StoreFactory } from '../src/index.ts'

/** The memory store, its clock in the suite's hand. */
export const memoryFactory: StoreFactory = ({ maxSubjects }) => {
  const clock = manualClock()
  return {
    store: memoryStore({ clock, maxSubjects }),
    capabilities: ['ids', 'sync', 'clock-steps', 'bounded', 'regroup'],
    clock,
    advance: clock.advance,
    stepClock: clock.advance,
    stop: () => undefined,
  }
}
