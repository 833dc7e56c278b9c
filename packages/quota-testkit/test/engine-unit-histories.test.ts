import { runUnitHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories of an engine over several units', () => {
  it(`${RUNS.runs} random histories of an engine over several units get the model’s answers`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await runUnitHistories(memoryFactory, RUNS)).toBeGreaterThan(RUNS.runs)
  })
})
