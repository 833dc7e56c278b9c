import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, describeStore } from '../src/index.ts'
import { memoryFactory } from './memory-factory.ts'

const registered = describeStore({ describe, it }, memoryFactory, 'memory store')

describe('the conformance suite on the memory store', () => {
  it('the suite runs every case under a unique name', () => {
    expect(registered).toBe(225)
    expect(new Set(CONFORMANCE_CASES.map(({ name }) => name)).size).toBe(registered)
  })
})
