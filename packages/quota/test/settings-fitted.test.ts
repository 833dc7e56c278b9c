import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialFactor, memoryFactor } from '../src/adaptive.ts'
import { createQuota, memorySettings, type Policy, type Quota, type QuotaEvents } from '../src/index.ts'
import { MAX_LIMIT } from '../src/internal.ts'
import { flatLimits, gateway, gatewayPolicy } from './support.ts'

/** Names that the policy does not have, and such as every object seems to have. */
const LIMITS = gatewayPolicy().limits.map(({ name }) => name)
const NAMES = [...LIMITS, 'read', 'write', 'admin', 'personal', 'site', 'team', 'fly', 'constructor']
const ODD = ['__proto__', 'toString', 'mode', 'limits', 'custom', 'shared', 'prices', 'bypass', 'enabled']

const leaf = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2, max: 40 }) },
  fc.constantFrom(MAX_LIMIT, MAX_LIMIT + 1, 1e300, 0.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53),
  fc.constantFrom('unlimited', '', '10', 'custom', 'adaptive', 'lenient', 'site', null, undefined, true, false),
)
const anyJson = fc.anything({ maxDepth: 1, maxKeys: 3, withNullPrototype: true, withBigInt: true, withDate: true })

/** A record under a few of the names, known or not. */
function under(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const key = fc.constantFrom(...NAMES, ...ODD)
  return fc.oneof({ weight: 8, arbitrary: fc.dictionary(key, value, { maxKeys: 4 }) }, anyJson)
}

const table = under(leaf)
const settingsDocument = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        mode: fc.oneof(fc.constantFrom('conservative', 'normal', 'lenient', 'custom', 'adaptive'), leaf),
        limits: table,
        custom: fc.oneof(table, fc.constant(null)),
        shared: under(under(fc.oneof(leaf, fc.constantFrom(0.25, 0.5, 4, 4.01, 1.005)))),
        prices: under(leaf),
        more: anyJson,
      },
      { requiredKeys: [] },
    ),
  },
  anyJson,
)
const subjectDocument = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ limits: table, bypass: under(leaf), more: anyJson }, { requiredKeys: [] }),
  },
  anyJson,
)

/** What a document has under a path, nothing inherited. */
function at(document: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isRecord && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  }, document)
}

function isLimit(value: unknown): value is number | 'unlimited' {
  return (
    value === 'unlimited' || (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_LIMIT)
  )
}

const FACTORS = { conservative: 75, normal: 100, lenient: 150, adaptive: 80, custom: 100 } as const

/** A limit under the stored documents, computed as plainly as possible. */
function limitOf({ limits }: Policy, documents: readonly unknown[], name: string): number {
  const [settings, subject] = documents
  const isOfSite = name.startsWith('site')
  const own = isOfSite ? undefined : at(subject, 'limits', name)
  if (isLimit(own)) return own === 'unlimited' ? Number.POSITIVE_INFINITY : own + 0
  const stored = at(settings, 'mode') as keyof typeof FACTORS
  const mode = Object.hasOwn(FACTORS, String(stored)) ? stored : 'normal'
  const numbers = [mode === 'custom' ? at(settings, 'custom', name) : undefined, at(settings, 'limits', name)]
  const base = [...numbers, limits.find((each) => each.name === name)?.limit].find(isLimit) ?? 0
  if (base === 'unlimited') return Number.POSITIVE_INFINITY
  const multiplier = isOfSite ? at(settings, 'shared', 'site', 'multiplier') : 1
  const isMultiplier =
    typeof multiplier === 'number' && multiplier >= 0.25 && multiplier <= 4 && Number.isInteger(multiplier * 100)
  const exact =
    (BigInt(base) * BigInt(FACTORS[mode]) * BigInt(isMultiplier ? Math.round(multiplier * 100) : 100)) / 10_000n
  return base === 0 ? 0 : Math.max(1, Number(exact))
}

function applies(name: string, [settings, subject]: readonly unknown[]): boolean {
  if (!name.startsWith('site')) return true
  return at(settings, 'shared', 'site', 'enabled') !== false && at(subject, 'bypass', 'site') !== true
}

/** As `expect(came).toBe(wanted)`, which takes its time. */
function same(what: string, came: unknown, wanted: unknown): void {
  if (came !== wanted) throw new Error(`${what}: ${String(came)} instead of ${String(wanted)}`)
}

describe('stored documents of any shape', () => {
  it('1,500 settings and as many subject settings of any shape never throw and never admit above a policy limit', async () => {
    const policy = gatewayPolicy(flatLimits(10, 20))
    const settingsStore = memorySettings()
    const factor = memoryFactor()
    factor.compareAndSet(0, 1, { ...initialFactor(), factorHundredths: 80 })
    const { quota, clock } = gateway({ logger: false, policy, settingsStore, adaptive: { factor } })
    const events: QuotaEvents['settingsFault'][] = []
    quota.on('settingsFault', (event) => events.push(event))
    let tries = 0
    fc.assert(
      fc.property(settingsDocument, subjectDocument, (settings, ofSubject) => {
        clock.at += 200_000_000
        const subject = `u-${tries++ % 100}`
        events.length = 0
        const { revision } = settingsStore.write(settings, {})
        settingsStore.writeSubject('personal', subject, ofSubject, {})
        const { settings: inForce } = quota.settings.current()
        // `null` is how a document is removed.
        same('revision', inForce.revision, settings === null ? '' : revision)
        const documents = [settings, ofSubject]
        for (const category of ['read', 'write'] as const) {
          const names = LIMITS.filter((name) => name.includes(category) && applies(name, documents))
          const wanted = names.map((name) => limitOf(policy, documents, name))
          const { limits: shown } = quota.statusSync(subject)
          const limits = Object.values(shown).filter(({ name }) => name.includes(category))
          same('names', limits.map(({ name }) => name).join(' '), names.join(' '))
          same(
            'limits',
            limits.map(({ limit }) => limit).join(' '),
            wanted.map((limit) => (Number.isFinite(limit) ? limit : 'unlimited')).join(' '),
          )
          const most = Math.min(...wanted, 1_000)
          if (most > 0)
            same('at the limit', quota.consumeSync({ subject, operation: category, cost: most }).allowed, true)
          if (most < 1_000)
            same('above it', quota.consumeSync({ subject, operation: category, cost: 1 }).allowed, false)
          const { cost } = quota.peekSync({ subject, operation: category })
          same('a price', Number.isSafeInteger(cost) && cost >= 0, true)
        }
        for (const { faults } of events) {
          same('faults', faults.length <= 100, true)
          for (const { path, message } of faults) same(path, path.length + message.length < 400, true)
        }
      }),
      { numRuns: 1_500 },
    )
    expect(tries).toBe(1_500)
    expect(events.length).toBeGreaterThan(0)
    await quota.close()
  }, 60_000)
})

describe('stored names and values that don’t fit', () => {
  const policy = gatewayPolicy(flatLimits(10, 20))
  const stored = {
    mode: 'conservative',
    limits: { ...flatLimits(100, 200), 'team-read-1h': 5 },
    custom: null,
    shared: { site: { enabled: true, multiplier: 7 }, org: { enabled: false, multiplier: 2 } },
    prices: { write: -1, fly: 3, read: [2], big: { later: 1 }, free: {} },
    later: {},
  }

  it('faults of a stored document are listed by faults() and emitted once per document', async () => {
    const settingsStore = memorySettings()
    const { quota } = gateway({ logger: false, policy, settingsStore })
    const events: unknown[] = []
    quota.on('settingsFault', (event) => events.push(event))
    settingsStore.write(stored, {})
    settingsStore.writeSubject('personal', 'u', { limits: { 'personal-write-1h': -1 }, bypass: { org: true } }, {})
    for (let i = 0; i < 3; i++) quota.consumeSync({ subject: 'u', operation: 'write', cost: 1 })
    const paths = ['limits.team-read-1h', 'shared.site.multiplier', 'shared.org', 'later']
    const prices = ['prices.write', 'prices.fly', 'prices.read', 'prices.free', 'prices.big.later']
    expect((await quota.settings.faults()).map(({ path }) => path).sort()).toEqual([...paths, ...prices].sort())
    expect((await quota.settings.get()).prices).toEqual({})
    expect((await quota.subjects.get('u')).bypass).toEqual({})
    expect(events).toEqual([
      { of: 'settings', faults: await quota.settings.faults() },
      {
        of: { layer: 'personal', key: 'u' },
        faults: [
          { path: 'limits.personal-write-1h', message: expect.any(String) },
          { path: 'bypass.org', message: expect.any(String) },
        ],
      },
    ])
  })

  it('faults of a stored document don’t fail another administrator’s patch', async () => {
    const settingsStore = memorySettings()
    settingsStore.write(stored, {})
    const { quota } = gateway({ logger: false, policy, settingsStore })
    const { settings } = await quota.settings.update({ prices: { read: 2 } })
    expect(settings).toMatchObject({ version: 2, mode: 'conservative', prices: { read: 2 } })
    await expect(quota.settings.update({ prices: { fly: 2 } } as object)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: [{ path: 'prices.fly' }],
    })
  })

  it('adaptive mode without a factor acts as normal, and the stored mode is kept', async () => {
    const settingsStore = memorySettings()
    settingsStore.write({ ...stored, mode: 'adaptive' }, {})
    const { quota } = gateway({ logger: false, policy, settingsStore })
    expect(quota.settings.current().settings.mode).toBe('normal')
    await quota.settings.update({ prices: { read: 2 } })
    expect(settingsStore.read()?.document).toMatchObject({ mode: 'adaptive', prices: { read: 2, fly: 3 } })
    expect(quota.settings.current().settings.mode).toBe('normal')
    await quota.settings.update({ mode: 'normal' })
    expect(settingsStore.read()?.document).toMatchObject({ mode: 'normal' })
  })
})

function engineNamed(name: string) {
  const named = <T>(value: T) => Object.fromEntries([[name, value]])
  const limits = { ...named({ by: name, limit: 10, per: '1m' }), all: { shared: 'all', limit: 100, per: '1m' } }
  return {
    named,
    quota: createQuota({ limits, operations: named({ cost: 3 }), failurePolicy: {} } as never) as Quota<string>,
  }
}

describe('names that every object has', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    '%s can name a layer, a limit and an operation',
    async (name) => {
      const { quota, named } = engineNamed(name)
      const request = { subject: 'u', operation: name }
      expect(await quota.consume(request)).toMatchObject({ allowed: true, cost: 3 })
      await quota.settings.update({ mode: 'normal' })
      expect(await quota.settings.faults()).toEqual([])
      await quota.settings.update({ prices: named(5) })
      expect(await quota.consume(request)).toMatchObject({ allowed: true, cost: 5 })
      await quota.subjects.set('u', { limits: named(9) })
      expect((await quota.consume({ ...request, cost: 2 })).allowed).toBe(false)
      expect((await quota.consume({ ...request, cost: 1, limits: named(20) })).allowed).toBe(true)
      expect(Object.keys((await quota.status('u')).limits)).toEqual([name, 'all'])
      await quota.subjects.remove('u')
      expect(await quota.settings.faults()).toEqual([])
    },
  )

  it('a policy with the name __proto__ is rejected', () => {
    expect(() => engineNamed('__proto__')).toThrowError(expect.objectContaining({ code: 'invalid_policy' }))
  })
})
