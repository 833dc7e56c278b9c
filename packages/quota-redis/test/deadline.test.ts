import { describe, expect, it, vi } from 'vitest'
import { Deadline } from '../src/store/deadline.ts'

/** Of no other test, as limits of one length share a timer. */
const MS = 41

function wait(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('deadlines of one length', () => {
  it('are over one after the other, none early, and none that was met', async () => {
    const over: [string, number][] = []
    const begun = (name: string, then?: () => void): Deadline => {
      const startedAt = performance.now()
      return new Deadline(MS, () => {
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

  it('are judged again when all before have ended', async () => {
    for (let i = 0; i < 3; i++) {
      const limit = new Deadline(MS, () => undefined)
      for (let n = 0; n < 100; n++) new Deadline(MS, () => undefined).met()
      await limit.settled
      expect(limit.isOver).toBe(true)
    }
  })
})
