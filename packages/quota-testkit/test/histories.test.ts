import { runHistories, SEED } from '@scoregw/quota-histories'
import { describe, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories on the memory store', () => {
  it(`${RUNS.runs} random histories on the memory store get the model’s answers (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    await runHistories(memoryFactory, RUNS)
  })
})
