import { explore, holdMachine, runHoldHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { BROKEN_COUNTERS } from './hold-mutants.ts'
import { manualFactory } from './manual-factory.ts'
import { mapStore } from './map-store.ts'
import { memoryFactory } from './memory-factory.ts'
import { modelStore } from './model-store.ts'
import { DEPTHS, TIMEOUT_MS } from './runs.ts'

/** How many different states six moves lead to: an exploration that sees fewer has lost moves. */
const STATES_OF_SIX = 16_397
/** The same of histories of three moves on a store. */
const HISTORIES_OF_THREE = 430

describe('two processes with a hold each, by the replies they get', () => {
  it(`every history of ${DEPTHS.holds} moves keeps every promise`, { timeout: TIMEOUT_MS }, () => {
    const { states, broken } = explore(holdMachine(), DEPTHS.holds)
    expect(broken).toBeUndefined()
    expect(states).toBeGreaterThanOrEqual(STATES_OF_SIX)
  })

  it.each(BROKEN_COUNTERS)('one goes wrong where $fault', ({ Counters, promise }) => {
    expect(explore(holdMachine(Counters), 6).broken?.promise).toMatch(promise)
  })
})

describe('histories of two holds on a store', () => {
  it(`the memory store goes through all of ${DEPTHS.heldStores} moves`, { timeout: TIMEOUT_MS }, async () => {
    expect(await runHoldHistories(memoryFactory, { depth: DEPTHS.heldStores })).toBeGreaterThanOrEqual(
      HISTORIES_OF_THREE,
    )
  })

  it('a harness whose clock cannot be stepped plays the others', async () => {
    expect(await runHoldHistories(manualFactory(modelStore, []), { depth: 2 })).toBe(37)
  })

  it('there are none on a store that cannot hold', async () => {
    expect(await runHoldHistories(manualFactory((clock) => mapStore(clock)))).toBe(0)
  })
})
