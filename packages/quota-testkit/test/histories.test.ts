import { runHistories, SEED } from '@scoregw/quota-histories'
import { describe, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories on the memory store', () => {
  it(`${RUNS.runs} of them are answered as by the model (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
    await runHistories(memoryFactory, RUNS)
  })
})
