import { runHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { describeStore } from '../src/index.ts'
import { manualFactory } from './manual-factory.ts'
import { mapStore } from './page-store.ts'
import { TIMEOUT_MS } from './runs.ts'

const factory = manualFactory(mapStore)
describeStore({ describe, it }, factory, 'the store of "Write a store"')

it('the store of the page "Write a store" passes random histories', { timeout: TIMEOUT_MS }, async () => {
  expect(await runHistories(factory, { runs: 40 })).toBeUndefined()
})
