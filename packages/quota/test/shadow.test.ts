import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import { gateway, gatewayPolicy, testClock } from './support.ts'

/** Every limit. */
const all = (value: true | null) => Object.fromEntries(gatewayPolicy().limits.map(({ name }) => [name, value]))

describe('shadowed limits', () => {
  it('a shadowed limit is charged, refuses nothing, and reports what it would have refused', async () => {
    const { quota } = gateway()
    await quota.settings.update({ shadow: { 'personal-write-1h': true } })
    const events: unknown[] = []
    quota.on('shadowed', ({ subject, allowed, shadowed }) =>
      events.push([subject, allowed, shadowed.map(({ name, used }) => `${name} ${used}`)]),
    )
    const first = quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    expect([first.allowed, first.shadowed]).toEqual([true, []])
    expect(quota.peekSync({ subject: 'u', operation: 'write', cost: 15 }).shadowed).toMatchObject([
      { name: 'personal-write-1h', used: 60, requested: 15 },
    ])
    const second = quota.consumeSync({ subject: 'u', operation: 'write', cost: 15 })
    expect(second.allowed).toBe(true)
    expect(second.shadowed).toMatchObject([
      { name: 'personal-write-1h', by: 'personal', limit: 60, used: 60, requested: 15, retryable: true },
    ])
    expect(quota.statusSync('u').limits).toMatchObject({
      'personal-write-1h': { limit: 60, used: 75, remaining: 0, enforced: false },
      'personal-write-5h': { used: 75, enforced: true },
    })
    // Another limit refuses, and both are named, each in its place.
    const third = quota.consumeSync({ subject: 'u', operation: 'write', cost: 200 })
    const name = 'personal-write-5h'
    expect(third).toMatchObject({ allowed: false, refusedBy: { name }, shadowed: [{ name: 'personal-write-1h' }] })
    if (!third.allowed) expect(third.refusals.map((refusal) => refusal.name)).toEqual([name])
    expect(events).toEqual([
      ['u', true, ['personal-write-1h 60']],
      ['u', false, ['personal-write-1h 75']],
    ])
    await quota.close()
  })

  it('a shadowed limit emits its own event without other listeners', async () => {
    const { quota } = gateway()
    await quota.settings.update({ shadow: all(true) })
    let events = 0
    const stop = quota.on('shadowed', () => events++)
    for (let i = 0; i < 5; i++) quota.consumeSync({ subject: 'u', operation: 'write', cost: 30 })
    expect(events).toBe(3)
    quota.peekSync({ subject: 'u', operation: 'write' })
    stop()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(events).toBe(3)
    await quota.close()
  })

  it('a limit applies again as soon as it is unshadowed, with what was used meanwhile', async () => {
    const { quota } = gateway()
    await quota.settings.update({ shadow: all(true) })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 100 })
    const { settings } = await quota.settings.update({ shadow: all(null) })
    expect(settings.shadow).toEqual({})
    const decision = quota.consumeSync({ subject: 'u', operation: 'write', cost: 1 })
    expect(decision).toMatchObject({
      allowed: false,
      refusedBy: { name: 'personal-write-1h', used: 100 },
      shadowed: [],
    })
    await quota.close()
  })

  it('a shadowed concurrency limit counts work in flight and admits more', async () => {
    const clock = testClock()
    const quota = createQuota({
      clock,
      store: memoryStore({ clock }),
      limits: {
        perHour: { by: 'user', limit: 100, per: '1h' },
        running: { by: 'user', concurrency: 1, shadow: true },
      },
    })
    const shadowed: string[] = []
    quota.on('shadowed', (decision) => shadowed.push(decision.shadowed.map(({ name }) => name).join(' ')))
    const first = await quota.reserve({ subject: 'u' })
    const second = await quota.reserve({ subject: 'u' })
    expect([first.allowed, second.allowed]).toEqual([true, true])
    expect(shadowed).toEqual(['running'])
    expect(quota.statusSync('u').limits.running).toMatchObject({ used: 2, limit: 1, enforced: false })
    await first.cancel()
    await second.commit()
    expect(quota.statusSync('u').limits.running).toMatchObject({ used: 0 })
    await quota.close()
  })

  it('a shadowed limit predicts enforcement exactly up to the first refusal', async () => {
    // Two engines with the same requests: one enforces, the other is in shadow.
    const enforced = gateway()
    const shadowed = gateway()
    await shadowed.quota.settings.update({ shadow: all(true) })
    let isFirst = true
    for (let i = 0; i < 100; i++) {
      const request = { subject: `u${i % 3}`, operation: 'write', cost: 1 + ((i * 7) % 11) } as const
      const real = enforced.quota.consumeSync(request)
      const would = shadowed.quota.consumeSync(request)
      expect(would.allowed).toBe(true)
      if (!isFirst) continue
      expect(would.shadowed).toEqual(real.allowed ? [] : real.refusals)
      isFirst = real.allowed
    }
    expect(isFirst).toBe(false)
  })
})
