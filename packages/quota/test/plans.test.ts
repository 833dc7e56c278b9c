import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memorySettings } from '../src/index.ts'
import type { AsyncSettingsStore, SettingsStore } from '../src/store.ts'
import { HOUR, testClock } from './support.ts'

const policy = definePolicy({
  limits: {
    user: { by: 'user', limit: 10, per: '1h' },
    team: { by: 'team', limit: 100, per: '1h' },
    all: { shared: 'all', limit: 1_000, per: '1h' },
  },
  operations: { ask: {} },
  plans: { pro: { user: 50 } } as Record<string, { user: number }>,
})

function made(settingsStore: SettingsStore = memorySettings()) {
  const clock = testClock()
  const quota = createQuota({ policy, clock, settingsStore, logger: false })
  const unknown: unknown[] = []
  quota.on('unknownPlan', (event) => unknown.push(event))
  const limitsOf = async (user: string, plan?: string): Promise<string> => {
    const { limits } = await quota.status({ user, team: 't' }, { plan })
    return Object.values(limits)
      .map(({ limit }) => limit)
      .join(' ')
  }
  return { quota, clock, unknown, limitsOf }
}

/** Settings that are read, not looked up. */
function asyncSettings(): AsyncSettingsStore {
  const inner = memorySettings()
  return {
    sync: false,
    isMarked: false,
    read: async () => inner.read(),
    write: async (document, options) => inner.write(document, options),
    readSubject: async (layer, key) => inner.readSubject(layer, key),
    writeSubject: async (layer, key, document, options) => inner.writeSubject(layer, key, document, options),
    watch: (listener) => inner.watch(listener),
  }
}

describe.each([
  ['settings that answer at once', memorySettings],
  ['settings that answer later', asyncSettings],
])('plans, under %s', (_name, settings) => {
  it('the subject’s plan, else the request’s, applies in every call', async () => {
    const { quota, limitsOf } = made(settings())
    await quota.subjects.set({ user: 'stored' }, { plan: 'pro' })
    expect([await limitsOf('u'), await limitsOf('u', 'pro'), await limitsOf('stored')]).toEqual([
      '10 100 1000',
      '50 100 1000',
      '50 100 1000',
    ])
    const request = { subject: { user: 'u', team: 't' }, operation: 'ask', cost: 11 } as const
    expect((await quota.peek(request)).allowed).toBe(false)
    expect((await quota.consume(request)).allowed).toBe(false)
    expect((await quota.peek({ ...request, plan: 'pro' })).allowed).toBe(true)
    const reservation = await quota.reserve({ ...request, plan: 'pro' })
    expect(reservation.allowed).toBe(true)
    await reservation.cancel()
    expect((await quota.consume({ ...request, plan: 'pro' })).allowed).toBe(true)
    await quota.close()
  })

  it('one settings change moves everyone on a plan, and another restores it', async () => {
    const { quota, limitsOf } = made(settings())
    await quota.subjects.set({ user: 'stored' }, { plan: 'pro' })
    await quota.settings.update({ plans: { pro: { user: 70 } } })
    expect([await limitsOf('stored'), await limitsOf('u', 'pro')]).toEqual(['70 100 1000', '70 100 1000'])
    await quota.settings.update({ plans: { pro: { user: null, team: 500 } } })
    expect(await limitsOf('stored')).toBe('50 100 1000')
    await quota.subjects.set({ team: 't' }, { plan: 'pro' })
    expect(await limitsOf('stored')).toBe('50 500 1000')
    await quota.settings.update({ plans: { pro: null } })
    expect((await quota.settings.get()).plans).toEqual({})
    expect(await limitsOf('stored')).toBe('50 100 1000')
    await quota.close()
  })

  it('a plan only in settings applies, and its removal falls back to the base and is reported', async () => {
    const { quota, limitsOf, unknown } = made(settings())
    await quota.settings.update({ plans: { max: { user: 'unlimited' } } })
    await quota.subjects.set({ user: 'stored' }, { plan: 'max' })
    expect([await limitsOf('stored'), await limitsOf('u', 'max')]).toEqual(['unlimited 100 1000', 'unlimited 100 1000'])
    expect(unknown).toEqual([])
    await quota.settings.update({ plans: { max: null } })
    expect(await limitsOf('stored')).toBe('10 100 1000')
    expect(unknown).toEqual([{ plan: 'max', subject: { user: 'stored', team: 't' }, of: 'settings' }])
    await quota.close()
  })

  it('an unknown plan falls back to the base and is reported once per settings version', async () => {
    const { quota, limitsOf, unknown } = made(settings())
    for (let i = 0; i < 3; i++) expect(await limitsOf(`u${i}`, 'gold')).toBe('10 100 1000')
    await quota.consume({ subject: { user: 'u', team: 't' }, operation: 'ask', plan: 'toString' })
    const first = { plan: 'gold', subject: { user: 'u0', team: 't' }, of: 'request' }
    expect(unknown).toEqual([first, { plan: 'toString', subject: { user: 'u', team: 't' }, of: 'request' }])
    await quota.settings.update({ prices: { ask: 2 } })
    await limitsOf('u0', 'gold')
    expect(unknown).toHaveLength(3)
    await quota.close()
  })

  it('a plan expires at its given time', async () => {
    const { quota, clock, limitsOf } = made(settings())
    const until = { plan: clock.at + HOUR, limits: clock.at + 2 * HOUR }
    await quota.subjects.set({ user: 'u' }, { plan: 'pro', until })
    expect(await limitsOf('u')).toBe('50 100 1000')
    clock.at += HOUR - 1
    expect(await limitsOf('u')).toBe('50 100 1000')
    clock.at += 1
    expect(await limitsOf('u')).toBe('10 100 1000')
    expect((await quota.subjects.get({ user: 'u' })).plan).toBe('pro')
    await quota.close()
  })
})

describe('unknown plans', () => {
  it('invented plan names use no memory, and at most 100 of them are reported', async () => {
    const { quota, unknown } = made()
    for (let i = 0; i < 1_000; i++) {
      await quota.consume({ subject: { user: `u${i}`, team: 't' }, operation: 'ask', plan: `plan-${i}` })
    }
    expect(unknown).toHaveLength(100)
    await quota.close()
  })

  it('an unknown plan is logged once if there is no listener', async () => {
    const warnings: unknown[] = []
    const warn = (message: unknown) => void warnings.push(message)
    const logger = { warn, error: warn }
    const quota = createQuota({ policy, logger })
    const request = { subject: { user: 'u', team: 't' }, operation: 'ask', plan: 'gold\n' } as const
    for (let i = 0; i < 3; i++) expect((await quota.consume(request)).allowed).toBe(true)
    expect(warnings).toEqual([
      'quota: a request names the unknown plan "gold?" (there are pro): its limits are the base limits. Listen to the event unknownPlan for details.',
    ])
    await quota.close()
  })

  it('a plan isn’t reported as unknown before the first read of the settings', async () => {
    const settingsStore = asyncSettings()
    const { quota: other } = made(settingsStore)
    await other.settings.update({ plans: { max: { user: 70 } } })
    const { quota, limitsOf, unknown } = made(settingsStore)
    expect(await limitsOf('u', 'max')).toBe('70 100 1000')
    expect(unknown).toEqual([])
    await quota.close()
    await other.close()
  })

  it('a subject’s plan must be one of the policy or the settings', async () => {
    const { quota } = made()
    await expect(quota.subjects.set({ user: 'u' }, { plan: 'por' })).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: [{ path: 'plan', message: 'not a plan: "por"; did you mean "pro"?' }],
    })
    await quota.settings.update({ plans: { trial: {} } })
    await expect(quota.subjects.set({ user: 'u' }, { plan: 'trial' })).resolves.toMatchObject({
      plan: 'trial',
      version: 1,
    })
    await quota.close()
  })
})
