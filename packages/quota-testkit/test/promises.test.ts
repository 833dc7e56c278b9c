import { checkPromises } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('random histories on the memory store, without a model', () => {
  it(`${RUNS.runs} of them keep the promises`, { timeout: TIMEOUT_MS }, async () => {
    const { admitted, refused, retried } = await checkPromises(memoryFactory, RUNS)
    expect(Math.min(admitted, refused, retried)).toBeGreaterThan(RUNS.runs)
  })
})
