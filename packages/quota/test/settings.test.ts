import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQuota, memorySettings, memoryStore, QuotaError } from '../src/index.ts'
import { MAX_LIMIT } from '../src/internal.ts'
import { scaledLimit } from '../src/policy/limits.ts'
import { initialSettings } from '../src/policy/settings.ts'
import type { AsyncSettingsStore, AsyncStore } from '../src/store.ts'
import { asyncStore, flatLimits, type GatewayEngine, gateway, gatewayPolicy, testClock, usedIn } from './support.ts'

/** The limits of writes or reads, as far as they apply. */
function limits(quota: GatewayEngine['quota'], category = 'write'): unknown[] {
  const all = Object.values(quota.statusSync('u').limits)
  return all.filter(({ name }) => name.includes(category)).map(({ limit }) => limit)
}

async function faultsOf(call: Promise<unknown>): Promise<Record<string, string>> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  if (!(error instanceof QuotaError)) throw new Error('expected a QuotaError')
  return Object.fromEntries(error.faults.map(({ path, message }) => [path, message]))
}

describe('effective limits', () => {
  it.each([
    ['conservative', [45, 150, 450, 1125, 3750, 13500]],
    ['normal', [60, 200, 600, 1500, 5000, 18000]],
    ['lenient', [90, 300, 900, 2250, 7500, 27000]],
  ] as const)('limits in mode %s are the base scaled by the mode', async (mode, expected) => {
    const { quota } = gateway()
    await quota.settings.update({ mode })
    expect(limits(quota)).toEqual(expected)
  })

  it('limits in mode custom are the custom table times the multiplier', async () => {
    const { quota } = gateway()
    await quota.settings.update({ mode: 'custom', custom: flatLimits(7, 10), shared: { site: { multiplier: 0.25 } } })
    expect(limits(quota)).toEqual([7, 7, 7, 2, 2, 2])
  })

  it('the site’s limits follow its multiplier and its switch', async () => {
    const { quota } = gateway()
    await quota.settings.update({ shared: { site: { multiplier: 2.5 } } })
    expect(limits(quota)).toEqual([60, 200, 600, 3750, 12500, 45000])
    await quota.settings.update({ shared: { site: { enabled: false } } })
    expect(limits(quota)).toEqual([60, 200, 600])
  })

  it('a subject’s overrides are absolute: 0 blocks and null follows the default', async () => {
    const { quota } = gateway()
    await quota.settings.update({ mode: 'lenient' })
    await quota.subjects.set('u', {
      limits: {
        'personal-write-1h': 0,
        'personal-write-5h': 7,
        'personal-write-1d': 'unlimited',
        'personal-read-1h': null,
      },
    })
    expect(limits(quota)).toEqual([0, 7, 'unlimited', 2250, 7500, 27000])
    expect(limits(quota, 'read').slice(0, 3)).toEqual([180, 600, 1800])
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(false)
    await quota.subjects.remove('u')
    expect(limits(quota)).toEqual([90, 300, 900, 2250, 7500, 27000])
  })

  it('a subject that bypasses the site has only personal limits and isn’t charged to the site', async () => {
    const { quota } = gateway()
    await quota.subjects.set('u', { bypass: { site: true } })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(limits(quota)).toEqual([60, 200, 600])
    expect(usedIn(quota.statusSync('v'))).toMatchObject({ 'site-write-1h': 0 })
  })

  it('a limit lowered below what was used leaves 0, and a raised one applies immediately', async () => {
    const { quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    await quota.settings.update({ mode: 'conservative' })
    expect(quota.statusSync('u').limits['personal-write-1h']).toMatchObject({ limit: 45, used: 60, remaining: 0 })
    await quota.settings.update({ mode: 'lenient' })
    expect(quota.consumeSync({ subject: 'u', operation: 'write', cost: 30 })).toMatchObject({
      allowed: true,
      settingsVersion: 2,
    })
  })

  it('limits are exact integers over the whole range', () => {
    const hundredths = fc.integer({ min: 25, max: 400 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_LIMIT }), fc.constantFrom(75, 100, 150), hundredths, (base, m, s) => {
        const exact = Number((BigInt(base) * BigInt(m) * BigInt(s)) / 10_000n)
        expect(scaledLimit(base, m, s)).toBe(base > 0 ? Math.max(1, exact) : 0)
      }),
    )
  })
})

describe('settings', () => {
  it('invalid settings are rejected whole, with every fault', async () => {
    const { quota } = gateway()
    const { 'personal-write-1h': _, ...some } = flatLimits(1, 1)
    const document = {
      ...initialSettings(gatewayPolicy()),
      mode: 'custom',
      limits: { ...some, 'personal-read-1h': -1, 'personal-read-5h': 1.5, 'personal-read-1d': 1e17, other: 1 },
      shared: { site: { enabled: 'yes', multiplier: 1.005 } },
      prices: { write: 2.5, fly: 1 },
    }
    const faults = await faultsOf(quota.settings.replace(document as never))
    expect(Object.keys(faults).sort()).toEqual([
      'custom',
      'limits.other',
      'limits.personal-read-1d',
      'limits.personal-read-1h',
      'limits.personal-read-5h',
      'limits.personal-write-1h',
      'prices.fly',
      'prices.write',
      'revision',
      'shared.site.enabled',
      'shared.site.multiplier',
      'version',
    ])
    expect(faults['shared.site.multiplier']).toBe(
      'expected a number from 0.25 to 4 with at most two decimals, got 1.005',
    )
    expect(await quota.settings.get()).toMatchObject({ version: 0, mode: 'normal' })
  })

  it.each([
    [{ prices: { fly: 1 } }, 'prices.fly', 'not an operation: "fly"; the policy has read, write, big, free'],
    [{ mode: 'custom' }, 'custom', 'mode "custom" needs these numbers'],
    [{ shared: { site: { multiplier: 0.24 } } }, 'shared.site.multiplier', /from 0.25 to 4/],
    [{ shared: { site: { multiplier: 4.01 } } }, 'shared.site.multiplier', /from 0.25 to 4/],
    [{ shared: { personal: { enabled: false } } }, 'shared.personal', 'unknown key'],
    [{ mode: 'adaptive' }, 'mode', /no adaptive factor/],
    [{ mode: 'wild' }, 'mode', 'expected one of conservative, normal, lenient, adaptive, custom'],
  ] as const)('settings %j are rejected', async (patch, path, message) => {
    const faults = await faultsOf(gateway().quota.settings.update(patch as never))
    expect(Object.keys(faults)).toEqual([path])
    expect(faults[path]).toMatch(message)
  })

  it('settings with a limit below a price return a warning', async () => {
    const { quota } = gateway()
    const { warnings } = await quota.settings.update({ limits: { 'personal-write-1h': 14 } })
    expect(warnings).toEqual([
      {
        path: 'limits.personal-write-1h',
        message: 'the effective limit of 14 tokens is below the price of write, big',
      },
    ])
    expect(limits(quota)[0]).toBe(14)
  })

  it('settings change prices immediately, and null restores the policy’s price', async () => {
    const { quota } = gateway()
    await quota.settings.update({ prices: { write: 7 } })
    expect(quota.peekSync({ subject: 'u', operation: 'write' }).cost).toBe(7)
    await quota.settings.update({ prices: { write: null } })
    expect(quota.peekSync({ subject: 'u', operation: 'write' }).cost).toBe(15)
  })

  it('an update leaves members that are undefined as they are', async () => {
    const { quota } = gateway()
    await quota.settings.update({ mode: 'custom', custom: flatLimits(7, 10), prices: { write: 7 } })
    const patch: object = { mode: undefined, custom: undefined, prices: { write: undefined } }
    const { settings } = await quota.settings.update(patch)
    expect(settings).toMatchObject({ mode: 'custom', custom: flatLimits(7, 10), prices: { write: 7 } })
  })

  it('concurrent conditional updates of two administrators give one success and one conflict', async () => {
    const { quota } = gateway()
    const { settings } = await quota.settings.update({ mode: 'lenient' }, { ifVersion: 0 })
    expect(settings.version).toBe(1)
    await expect(quota.settings.update({ mode: 'normal' }, { ifVersion: 0 })).rejects.toMatchObject({
      code: 'settings_conflict',
    })
    await expect(quota.settings.replace(initialDocument(), { ifVersion: 0 })).rejects.toMatchObject({
      code: 'settings_conflict',
    })
    await quota.subjects.set('u', { bypass: { site: true } }, { ifVersion: 0 })
    await expect(quota.subjects.set('u', {}, { ifVersion: 0 })).rejects.toMatchObject({ code: 'settings_conflict' })
    await expect(quota.subjects.remove('u', { ifVersion: 2 })).rejects.toMatchObject({ code: 'settings_conflict' })
    expect(await quota.settings.get()).toMatchObject({ version: 1, mode: 'lenient' })
  })

  it('concurrent patches are all applied', async () => {
    const settingsStore = memorySettings()
    const quotas = [1, 2, 3].map(() => gateway({ settingsStore }).quota)
    await Promise.all([
      quotas[0]!.settings.update({ mode: 'lenient' }),
      quotas[1]!.settings.update({ prices: { write: 1 } }),
      quotas[2]!.settings.update({ shared: { site: { enabled: false } } }),
    ])
    expect(await quotas[0]!.settings.get()).toMatchObject({
      version: 3,
      mode: 'lenient',
      prices: { write: 1 },
      shared: { site: { enabled: false } },
    })
    expect(quotas[1]!.peekSync({ subject: 'u', operation: 'write' })).toMatchObject({ cost: 1, settingsVersion: 3 })
  })

  it('replace() accepts a document without members that have a default', async () => {
    const { quota } = gateway()
    await quota.settings.update({ shadow: { 'site-write-1h': true }, thresholds: [{ left: 1 }] })
    const { shadow: _, plans: __, thresholds: ___, ...document } = initialDocument()
    const { settings } = await quota.settings.replace({ ...document, mode: 'lenient', plans: undefined })
    expect(settings).toMatchObject({ mode: 'lenient', shadow: {}, plans: {}, thresholds: null, version: 2 })
    expect(await quota.settings.get()).toEqual(settings)
    expect(await quota.settings.faults()).toEqual([])
    await expect(quota.settings.replace(null as never)).rejects.toMatchObject({ code: 'invalid_settings' })
  })

  it('changing the object passed to update() later changes nothing', async () => {
    const { quota } = gateway()
    const document = { ...initialDocument(), prices: {} as Record<string, number> }
    await quota.settings.replace(document)
    document.prices.write = 1
    expect(quota.peekSync({ subject: 'u', operation: 'write' }).cost).toBe(15)
  })

  it.each([
    [{ limits: { 'personal-write-1h': -1 } }, 'limits.personal-write-1h'],
    [{ limits: { 'site-write-1h': 1 } }, 'limits.site-write-1h'],
    [{ bypass: { personal: true } }, 'bypass.personal'],
    [{ bypas: {} }, 'bypas'],
  ])('subject settings %j are rejected', async (settings, path) => {
    const faults = await faultsOf(gateway().quota.subjects.set('u', settings as never))
    expect(Object.keys(faults)).toEqual([path])
  })
})

describe('options', () => {
  it.each([
    [{ failurePolicy: { fly: 'open' } }, 'failurePolicy.fly'],
    [{ failurePolicy: { read: 'maybe' } }, 'failurePolicy.read'],
    [{ store: {} }, 'store'],
    [{ idTtlMs: 0 }, 'idTtlMs'],
    [{ stroe: 1 }, 'stroe'],
    [{ clock: 5 }, 'clock'],
  ])('createQuota() rejects the options %j', (options, path) => {
    const create = (): unknown => createQuota({ policy: gatewayPolicy(), ...(options as object) })
    expect(create).toThrowError(
      expect.objectContaining({ code: 'invalid_options', faults: [expect.objectContaining({ path })] }),
    )
  })
})

describe('asynchronous settings stores', () => {
  function laterSettings(): AsyncSettingsStore & { inner: ReturnType<typeof memorySettings>; reads: number } {
    const inner = memorySettings()
    return {
      inner,
      reads: 0,
      sync: false,
      isMarked: true,
      read: async () => inner.read(),
      write: async (settings, options) => inner.write(settings, options),
      async readSubject(layer, key) {
        this.reads++
        return inner.readSubject(layer, key)
      },
      writeSubject: async (layer, key, settings, options) => inner.writeSubject(layer, key, settings, options),
      watch: (listener) => inner.watch(listener),
    }
  }

  it('settings are read before the first decision and after each change', async () => {
    const settingsStore = laterSettings()
    settingsStore.inner.write({ ...initialDocument(), mode: 'lenient' }, {})
    const { quota } = gateway({ settingsStore })
    expect(quota.sync).toBe(false)
    expect('consumeSync' in quota).toBe(false)
    expect(await quota.consume({ subject: 'u', operation: 'write' })).toMatchObject({ settingsVersion: 1 })
    expect((await quota.status('u')).limits['personal-write-1h']?.limit).toBe(90)
    await quota.settings.update({ mode: 'normal' })
    expect((await quota.status('u')).limits['personal-write-1h']?.limit).toBe(60)
  })

  it('a subject’s settings are read once and again after they change', async () => {
    const settingsStore = laterSettings()
    const { quota } = gateway({ settingsStore })
    await quota.consume({ subject: 'u', operation: 'write' })
    await quota.consume({ subject: 'u', operation: 'write' })
    expect(settingsStore.reads).toBe(1)
    settingsStore.inner.writeSubject('personal', 'u', { limits: {}, bypass: { site: true } }, {})
    expect(Object.keys((await quota.status('u')).limits)).toHaveLength(6)
    expect(settingsStore.reads).toBe(2)
  })

  it('settings are read again for a store that knows a newer revision than the read in flight', async () => {
    const settingsStore = laterSettings()
    const clock = testClock()
    const counters = memoryStore({ clock })
    const later = asyncStore(counters)
    // Refuses to decide under other settings than those in force, as a shared store does.
    const store: AsyncStore = {
      sync: false,
      open(schema) {
        const opened = later.open(schema)
        return {
          ...opened,
          async take(request) {
            const settingsRevision = settingsStore.inner.read()?.revision ?? ''
            if (request.settingsRevision === settingsRevision) return opened.take(request)
            return { outcome: 'stale', now: clock.at, states: [], settingsRevision }
          },
        }
      },
    }
    // No notification of changes: only the counters' store knows.
    settingsStore.watch = () => () => undefined
    const { quota } = gateway({ settingsStore, store })
    await quota.ready()
    settingsStore.inner.write({ ...initialDocument(), mode: 'lenient' }, {})
    const overtaken = settingsStore.inner.read()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let looks = 0
    settingsStore.read = () =>
      looks++ === 0 ? gate.then(() => overtaken) : Promise.resolve(settingsStore.inner.read())
    const first = quota.consume({ subject: 'u', operation: 'write' })
    await expect.poll(() => looks).toBe(1)
    settingsStore.inner.write({ ...initialDocument(), mode: 'conservative' }, {})
    const second = quota.consume({ subject: 'u', operation: 'write' })
    await new Promise(setImmediate)
    release()
    expect(await second).toMatchObject({ allowed: true, settingsVersion: 2 })
    await first
  })

  it('settings that can’t be read give quota_unavailable, and the next call reads again', async () => {
    const settingsStore = laterSettings()
    let down = true
    const { read } = settingsStore
    settingsStore.read = () => (down ? Promise.reject(new Error('gone')) : read())
    const { quota } = gateway({ settingsStore })
    await expect(quota.consume({ subject: 'u', operation: 'write' })).rejects.toMatchObject({
      code: 'quota_unavailable',
    })
    down = false
    expect(await quota.consume({ subject: 'u', operation: 'write' })).toMatchObject({ allowed: true })
  })
})

function initialDocument() {
  const { version: _, revision: __, ...document } = initialSettings(gatewayPolicy())
  return document
}
