import { describe, expect, it, vi } from 'vitest'
import { type Deadline, Deadlines, InFlight } from '../src/store.ts'

const MS = 41

function wait(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('deadlines of one length', () => {
  it('deadlines end in order, none early, and none of a call that was answered', async () => {
    const deadlines = new Deadlines(MS, () => performance.now())
    const over: [string, number][] = []
    const begun = (name: string, then?: () => void): Deadline => {
      const startedAt = performance.now()
      return deadlines.begin(() => {
        over.push([name, performance.now() - startedAt])
        then?.()
      })
    }
    const first = begun('first', () => begun('of the first'))
    const met = begun('met')
    wait(MS / 2)
    const second = begun('second')
    expect([met.met(), met.met(), met.isOver]).toEqual([true, false, false])
    await first.settled
    expect(first.isOver).toBe(true)
    await Promise.all([second.settled, met.settled])
    await vi.waitFor(() => expect(over).toHaveLength(3), { timeout: 15_000 })
    expect(over.map(([name]) => name)).toEqual(['first', 'second', 'of the first'])
    for (const [name, afterMs] of over) expect(afterMs, name).toBeGreaterThanOrEqual(MS)
    expect(first.met()).toBe(false)
  })

  it('a deadline that starts after all others have ended still ends', async () => {
    const deadlines = new Deadlines(MS, () => performance.now())
    for (let i = 0; i < 3; i++) {
      const limit = deadlines.begin()
      for (let n = 0; n < 100; n++) deadlines.begin().met()
      await limit.settled
      expect(limit.isOver).toBe(true)
    }
  })
})

describe('calls in flight', () => {
  it('calls in flight have a maximum, and close() waits for the last of them', async () => {
    const calls = new InFlight(3)
    calls.add(2)
    expect(calls.refusal).toBeUndefined()
    calls.add()
    expect(calls.refusal).toBe('3 calls are in flight, and no more are taken on')
    let isIdle = false
    const idle = calls.idle().then(() => {
      isIdle = true
    })
    const next = calls.next()
    calls.done()
    await next
    expect([calls.count, calls.refusal, isIdle]).toEqual([2, undefined, false])
    calls.done(2)
    await idle
    await calls.next()
    expect(isIdle).toBe(true)
  })
})
