import { checkPromises, runHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { describeStore } from '../src/index.ts'
import { manualFactory } from './manual-factory.ts'
import { mapStore } from './map-store.ts'
import { TIMEOUT_MS } from './runs.ts'

const factory = manualFactory((clock) => mapStore(clock))

describeStore({ describe, it }, factory, 'the shortest store')

describe('random histories on the shortest store', () => {
  it('random histories on the shortest store get the model’s answers', { timeout: TIMEOUT_MS }, async () => {
    await runHistories(factory, { runs: 40 })
  })

  it('random histories on the shortest store break no promise', { timeout: TIMEOUT_MS }, async () => {
    const { retried } = await checkPromises(factory, { runs: 40 })
    expect(retried).toBeGreaterThan(0)
  })
})
