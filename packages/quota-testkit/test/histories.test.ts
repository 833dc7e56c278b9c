import { runHistories, TEN_SCENES, UNIT_SCENES } from '@scoregw/quota-histories'
import { testSeed } from '@scoregw/server-kit'
import { describe, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories on the memory store', () => {
  it(`${RUNS.runs} random histories on the memory store get the model’s answers (seed ${testSeed})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    await runHistories(memoryFactory, RUNS)
  })

  it('those of several units do', { timeout: TIMEOUT_MS }, async () => {
    await runHistories(memoryFactory, { ...RUNS, scenes: UNIT_SCENES })
  })

  it.each(TEN_SCENES)('those of $name do', { timeout: TIMEOUT_MS }, async (scene) => {
    await runHistories(memoryFactory, { ...RUNS, runs: Math.ceil(RUNS.runs / 5), scenes: [scene] })
  })
})
