import { describe, expect, it } from 'vitest'
import { Breaker } from '../src/store/server-calls.ts'

function breakerAt(): { breaker: Breaker; clock: { ms: number } } {
  const clock = { ms: 1_000 }
  return { breaker: new Breaker(() => clock.ms), clock }
}

function fail(breaker: Breaker, clock: { ms: number }, times: number, everyMs: number): void {
  for (let i = 0; i < times; i++) {
    clock.ms += everyMs
    breaker.failed()
  }
}

describe('the breaker', () => {
  it('the breaker admits calls while the server answers and while failures are few or short', () => {
    const { breaker, clock } = breakerAt()
    expect(breaker.admits()).toBe(true)
    fail(breaker, clock, 1_000, 0.4)
    expect(breaker.admits()).toBe(true)
    breaker.succeeded()
    fail(breaker, clock, 2, 10_000)
    expect(breaker.admits()).toBe(true)
  })

  it('the breaker opens within 2 s when each call takes its deadline of 150 ms to fail', () => {
    const { breaker, clock } = breakerAt()
    const began = clock.ms
    while (clock.ms === began || breaker.admits()) fail(breaker, clock, 1, 150)
    expect(clock.ms - began).toBeLessThanOrEqual(2_000)
  })

  it('a success resets the breaker’s count of failures', () => {
    const { breaker, clock } = breakerAt()
    fail(breaker, clock, 2, 400)
    breaker.succeeded()
    fail(breaker, clock, 2, 400)
    expect(breaker.admits()).toBe(true)
  })

  it('an open breaker admits one call in 200 ms, and every call after a success', () => {
    const { breaker, clock } = breakerAt()
    fail(breaker, clock, 3, 300)
    expect(breaker.admits()).toBe(false)
    clock.ms += 199
    expect(breaker.admits()).toBe(false)
    clock.ms += 1
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false])
    breaker.failed()
    clock.ms += 200
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false])
    breaker.succeeded()
    expect([breaker.admits(), breaker.admits()]).toEqual([true, true])
  })
})
