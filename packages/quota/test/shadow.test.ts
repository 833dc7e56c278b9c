import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { fixture, HOUR, testClock } from './support.ts'

describe('shadowed limits', () => {
  it('a shadowed limit is charged, refuses nothing, and reports what it would have refused', async () => {
    const { quota } = fixture()
    await quota.settings.update({ shadow: { personal: ['1h'] } })
    const events: unknown[] = []
    quota.on('shadowed', ({ subject, allowed, shadowed }) =>
      events.push([subject, allowed, shadowed.map(({ layer, window, used }) => `${layer} ${window} ${used}`)]),
    )
    const first = quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    expect([first.allowed, first.shadowed]).toEqual([true, []])
    const second = quota.consumeSync({ subject: 'u', operation: 'write', cost: 15 })
    expect(second.allowed).toBe(true)
    expect(second.shadowed).toMatchObject([
      { layer: 'personal', window: '1h', limit: 60, used: 60, requested: 15, retryable: true },
    ])
    const [hour] = quota.statusSync('u').windows.write!
    expect(hour).toMatchObject({ window: '1h', limit: 60, used: 75, remaining: 0, enforced: false })
    expect(quota.statusSync('u').windows.write![1]).toMatchObject({ window: '5h', used: 75, enforced: true })
    // Another limit refuses, and both are named, each in its place.
    const third = quota.consumeSync({ subject: 'u', operation: 'write', cost: 200 })
    expect(third).toMatchObject({ allowed: false, binding: { window: '5h' }, shadowed: [{ window: '1h' }] })
    if (!third.allowed) expect(third.violations.map(({ window }) => window)).toEqual(['5h'])
    expect(events).toEqual([
      ['u', true, ['personal 1h 60']],
      ['u', false, ['personal 1h 75']],
    ])
    await quota.close()
  })

  it('a shadowed limit emits its own event without other listeners', async () => {
    const { quota } = fixture()
    await quota.settings.update({ shadow: { site: 'all', personal: 'all' } })
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
    const { quota } = fixture()
    await quota.settings.update({ shadow: { personal: 'all' } })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 100 })
    const { settings } = await quota.settings.update({ shadow: { personal: null } })
    expect(settings.shadow).toEqual({})
    const decision = quota.consumeSync({ subject: 'u', operation: 'write', cost: 1 })
    expect(decision).toMatchObject({ allowed: false, binding: { window: '1h', used: 100 }, shadowed: [] })
    await quota.close()
  })

  it('a shadowed concurrency limit counts work in flight and admits more', async () => {
    const clock = testClock()
    const policy = definePolicy({
      windows: [{ label: '1h', lengthMs: HOUR }],
      categories: ['call'],
      layers: [{ name: 'user' }],
      operations: { chat: { category: 'call', cost: 1 } },
      concurrency: { label: 'running', categories: ['call'] },
      base: { user: { call: { '1h': 100, running: 1 } } },
    })
    const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
    await quota.settings.update({ shadow: { user: ['running'] } })
    const shadowed: string[] = []
    quota.on('shadowed', (decision) => shadowed.push(decision.shadowed.map(({ window }) => window).join(' ')))
    const first = await quota.reserve({ subject: 'u', operation: 'chat' })
    const second = await quota.reserve({ subject: 'u', operation: 'chat' })
    expect([first.allowed, second.allowed]).toEqual([true, true])
    expect(shadowed).toEqual(['running'])
    expect(quota.statusSync('u').windows.call![1]).toMatchObject({
      window: 'running',
      used: 2,
      limit: 1,
      enforced: false,
    })
    await first.cancel()
    await second.commit()
    expect(quota.statusSync('u').windows.call![1]).toMatchObject({ used: 0 })
    await quota.close()
  })

  it('a shadowed limit predicts enforcement exactly up to the first refusal', async () => {
    // Two engines with the same requests: one enforces, the other is in shadow.
    const enforced = fixture()
    const shadowed = fixture()
    await shadowed.quota.settings.update({ shadow: { personal: 'all', site: 'all' } })
    let isFirst = true
    for (let i = 0; i < 100; i++) {
      const request = { subject: `u${i % 3}`, operation: 'write', cost: 1 + ((i * 7) % 11) } as const
      const real = enforced.quota.consumeSync(request)
      const would = shadowed.quota.consumeSync(request)
      expect(would.allowed).toBe(true)
      if (!isFirst) continue
      expect(would.shadowed).toEqual(real.allowed ? [] : real.violations)
      isFirst = real.allowed
    }
    expect(isFirst).toBe(false)
  })
})
