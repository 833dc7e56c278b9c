import { describe, expect, it } from 'vitest'
import { checkPromises, describeStore, manualClock, runHistories, type StoreFactory } from '../src/index.ts'
import { MapStore } from './map-store.ts'

const factory: StoreFactory = () => {
  const clock = manualClock()
  return {
    store: new MapStore(clock),
    capabilities: ['ids', 'sync', 'clock-steps'],
    clock,
    advance: clock.advance,
    stepClock: clock.advance,
    stop: () => undefined,
  }
}

describeStore({ describe, it }, factory, 'the shortest store')

describe('random histories on the shortest store', () => {
  it('are answered as by the model', async () => {
    await runHistories(factory, { runs: 100 })
  })

  it('keep the promises', async () => {
    const { retried } = await checkPromises(factory, { runs: 100 })
    expect(retried).toBeGreaterThan(0)
  })
})
