import { describe, expect, it } from 'vitest'
import { manualClock } from '../src/index.ts'

describe('manualClock', () => {
  it('a manual clock stands still until it is advanced', () => {
    const clock = manualClock(1_000)
    expect(clock.now()).toBe(1_000)
    clock.advance(5)
    clock.advance(-2)
    expect(clock.now()).toBe(1_003)
    clock.advance('1h')
    expect(clock.now()).toBe(3_601_003)
    clock.set(7)
    expect(clock.now()).toBe(7)
  })

  it('a manual clock starts at one instant in every run', () => {
    expect(manualClock().now()).toBe(Date.parse('2026-08-06T15:06:26.000Z'))
  })

  it('the methods of a manual clock work without the object', () => {
    const { advance, now } = manualClock(0)
    advance(1)
    expect(now()).toBe(1)
  })

  it('a manual clock rejects instants that aren’t whole milliseconds', () => {
    const clock = manualClock(0)
    expect(() => clock.advance('soon' as '1h')).toThrow(RangeError)
    for (const wrong of [Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
      expect(() => clock.set(wrong)).toThrow(RangeError)
      expect(() => clock.advance(wrong)).toThrow(RangeError)
      expect(() => manualClock(wrong)).toThrow(RangeError)
    }
    expect(clock.now()).toBe(0)
  })
})
