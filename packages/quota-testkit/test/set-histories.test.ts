import { runSetHistories } from '@scoregw/quota-histories'
import { expect, it } from 'vitest'
import { manualFactory } from './manual-factory.ts'
import { memoryFactory } from './memory-factory.ts'
import { modelStore } from './model-store.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'
import { SET_MUTANTS } from './set-mutants.ts'

/** What the histories come to, among all else. */
const MET = [
  'take admitted',
  'take refused',
  'hold admitted',
  'hold refused',
  'hold conflict',
  'hold too_many_holds',
  'grow held',
  'end settled',
]

it('random histories over overlapping sets get the answers of the model', { timeout: TIMEOUT_MS }, async () => {
  const outcomes = await runSetHistories(memoryFactory, modelStore, { ...RUNS, runs: 4 * RUNS.runs })
  expect([...outcomes]).toEqual(expect.arrayContaining(MET))
})

it.each(SET_MUTANTS)('random histories over overlapping sets find the fault: $fault', async ({ Counters }) => {
  const factory = manualFactory((clock) => modelStore(clock, Counters))
  await expect(runSetHistories(factory, modelStore, { runs: 300, seed: 1, shrink: false })).rejects.toThrow()
})
