import { QuotaError } from '@scoregw/quota'
import { runHistories } from '@scoregw/quota-histories'
import { describe, it } from 'vitest'
import { describeStore } from '../src/index.ts'
import { lateStore } from './late-store.ts'
import { manualFactory } from './manual-factory.ts'
import { MapCounters, mapStore } from './map-store.ts'
import { TIMEOUT_MS } from './runs.ts'

/** Counters that can do no more than they must: no ids. */
class BareCounters extends MapCounters {
  override record(): never {
    throw new QuotaError('store_error', 'this store knows no reservation ids')
  }
}

// Answers late, on a clock that nobody can step.
const bare = manualFactory((clock) => lateStore(mapStore(clock, BareCounters)), [])

describeStore({ describe, it }, bare, 'a store without any capability')

describe('random histories on an asynchronous store', () => {
  it('random histories through asynchronous calls get the model’s answers', { timeout: TIMEOUT_MS }, async () => {
    const late = manualFactory((clock) => lateStore(mapStore(clock)), ['ids'])
    await runHistories(late, { runs: 40 })
  })
})
