import { checkPromises } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { memoryFactory } from './memory-factory.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

describe('promises of the memory store', () => {
  it(`${RUNS.runs} random histories on the memory store break no promise`, { timeout: TIMEOUT_MS }, async () => {
    const { admitted, refused, retried } = await checkPromises(memoryFactory, RUNS)
    expect(Math.min(admitted, refused, retried)).toBeGreaterThan(RUNS.runs / 2)
  })
})
