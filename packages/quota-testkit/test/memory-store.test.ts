import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, describeStore } from '../src/index.ts'
import { memoryFactory } from './memory-factory.ts'

const registered = describeStore({ describe, it }, memoryFactory, 'memory store')

describe('the suite', () => {
  it('runs every case, under a name of its own', () => {
    expect(registered).toBe(343)
    expect(new Set(CONFORMANCE_CASES.map(({ name }) => name)).size).toBe(registered)
  })
})
