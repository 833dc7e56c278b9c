import { testSeed } from '@scoregw/server-kit'
import { expect, it } from 'vitest'
import { runStoreHistories } from '../src/index.ts'
import { modelStore } from '../src/model.ts'
import { manualFactory } from './manual-factory.ts'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'
import { SET_MUTANTS } from './set-mutants.ts'

/** What the histories come to, among all else. */
const MET = [
  'take admitted',
  'take refused',
  'once duplicate',
  'once conflict',
  'hold admitted',
  'hold refused',
  'hold conflict',
  'hold expired',
  'hold too_many_holds',
  'grow held',
  'grow refused',
  'extend held',
  'end settled',
]

it(`random histories of two policies get the model’s answers (seed ${testSeed})`, { timeout: TIMEOUT_MS }, async () => {
  const outcomes = await runStoreHistories(memoryFactory, { ...RUNS, runs: 8 * RUNS.runs, seed: testSeed })
  expect([...outcomes]).toEqual(expect.arrayContaining(['take admitted', 'take refused', 'hold admitted']))
})

// With one seed: some outcomes are rare, and a random few histories may miss them.
it('the histories of a seed come to every outcome', { timeout: TIMEOUT_MS }, async () => {
  const outcomes = await runStoreHistories(memoryFactory, { runs: 1_200, seed: 1 })
  expect([...outcomes]).toEqual(expect.arrayContaining(MET))
})

it.each(SET_MUTANTS)('random histories find the fault: $fault', async ({ Counters }) => {
  const factory = manualFactory((clock) => modelStore(clock, Counters))
  await expect(runStoreHistories(factory, { runs: 300, seed: 1, shrink: false })).rejects.toThrow()
})
