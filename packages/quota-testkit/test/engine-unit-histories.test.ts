import { runUnitHistories } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories of an engine over several units', () => {
  it(`${RUNS.runs} of them are answered as by the model`, { timeout: TIMEOUT_MS }, async () => {
    expect(await runUnitHistories(memoryFactory, RUNS)).toBeGreaterThan(RUNS.runs)
  })
})
