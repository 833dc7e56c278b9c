import { runEditHistories } from '@scoregw/quota-histories'
import { expect, it } from 'vitest'
import { manualFactory } from './manual-factory.ts'
import { mapStore } from './map-store.ts'
import { memoryFactory } from './memory-factory.ts'
import { factoryOf } from './mutant.ts'
import { NAME_MUTANTS } from './name-mutants.ts'
import { DEPTHS, TIMEOUT_MS } from './runs.ts'

const HISTORIES = 8 ** DEPTHS.stores

it(`the memory store passes all ${HISTORIES} histories of two policies`, { timeout: TIMEOUT_MS }, async () => {
  expect(await runEditHistories(memoryFactory, { depth: DEPTHS.stores })).toBe(HISTORIES)
})

it('the shortest store passes all histories of two policies with three moves', async () => {
  expect(
    await runEditHistories(
      manualFactory((clock) => mapStore(clock)),
      { depth: 3 },
    ),
  ).toBe(512)
})

it('histories of two policies run without clock steps if the harness can’t step its clock', async () => {
  expect(
    await runEditHistories(
      manualFactory((clock) => mapStore(clock), []),
      { depth: 2 },
    ),
  ).toBe(49)
})

it.each([
  'what a policy does not know is dropped when it writes',
  'a reset closes what the policy does not know',
  'a reset stops where the first window is closed',
  'a charge takes it from the first window whether all are open',
  'a window is recognised by its place in the row',
  'another list of windows is another row',
])('histories of two policies find the fault “%s”', async (fault) => {
  const mutant = NAME_MUTANTS.find((each) => each.fault === fault)!
  await expect(runEditHistories(factoryOf(mutant), { depth: 4 })).rejects.toThrow('a history of two policies')
})
