import { runHoldHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { manualFactory } from './manual-factory.ts'
import { mapStore } from './map-store.ts'
import { memoryFactory } from './memory-factory.ts'
import { modelStore } from './model-store.ts'
import { DEPTHS, TIMEOUT_MS } from './runs.ts'

/** How many different states three moves lead to: an exploration that sees fewer has lost moves. */
const HISTORIES_OF_THREE = 430

describe('histories of two holds on a store', () => {
  it(`the memory store passes all histories of two holds with ${DEPTHS.heldStores} moves`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await runHoldHistories(memoryFactory, { depth: DEPTHS.heldStores })).toBeGreaterThanOrEqual(
      HISTORIES_OF_THREE,
    )
  })

  it('histories of two holds run without clock steps if the harness can’t step its clock', async () => {
    expect(await runHoldHistories(manualFactory(modelStore, []), { depth: 2 })).toBe(37)
  })

  it('a store without holds has no histories of two holds', async () => {
    expect(await runHoldHistories(manualFactory((clock) => mapStore(clock)))).toBe(0)
  })
})
