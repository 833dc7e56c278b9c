import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy, memorySettings, type Policy } from '../src/index.ts'
import { testClock } from './support.ts'

const policy = definePolicy({
  limits: {
    hour: { by: 'user', limit: 10, per: '1h' },
    month: { by: 'user', limit: 100, every: 'month', timeZone: 'UTC', anchor: 'subject' },
    running: { by: 'user', concurrency: 2, for: 'chat' },
    ofTeam: { by: 'team', limit: 10, per: '1h' },
    ofAll: { shared: 'all', limit: 100, per: '1h' },
    allRunning: { shared: 'all', concurrency: 50, for: 'chat' },
  },
  operations: { chat: { cost: 5 }, ask: {} },
  plans: { pro: { month: 500 } },
}) as Policy

function made(given: Policy = policy, settingsStore = memorySettings()) {
  const clock = testClock(Date.UTC(2026, 7, 6))
  const quota = createQuota({ clock, calendar: luxonCalendar(), settingsStore, policy: given, logger: false })
  return { clock, settingsStore, quota }
}

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const A_LIMIT = 'a whole number of requests from 0 to 1000000000000000, or "unlimited"'

const SETTINGS_FAULTS: readonly (readonly [patch: object, path: string, message: string])[] = [
  [{ shadow: { moth: true } }, 'shadow.moth', 'not a limit: "moth"; did you mean "month"?'],
  [{ shadow: { month: 'yes' } }, 'shadow.month', 'expected true or false, got "yes"'],
  [{ shadow: ['month'] }, 'shadow', 'expected an object of true or false by name, got an array'],
  [{ limits: { moth: 5 } }, 'limits.moth', 'unknown key; did you mean "month"?'],
  [{ limits: { month: -1 } }, 'limits.month', `expected ${A_LIMIT}, got -1`],
  [{ plans: { pro: { ofAll: 5 } } }, 'plans.pro.ofAll', 'shared by all subjects: plans apply only to `by` limits'],
  [{ plans: { pro: { moth: 5 } } }, 'plans.pro.moth', 'not a limit: "moth"; did you mean "month"?'],
  [{ plans: { pro: { month: -1 } } }, 'plans.pro.month', `expected ${A_LIMIT}, got -1`],
  [{ plans: { pro: 5 } }, 'plans.pro', 'expected an object of numbers by limit, got a number'],
  [
    { plans: { 'p r': {} } },
    'plans.p r',
    'expected a plan\'s name of 1 to 64 letters, digits and . _ : / -, got "p r"',
  ],
  [
    { plans: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, {}])) },
    'plans',
    'expected at most 100 plans',
  ],
  [
    { thresholds: [{ share: 0 }] },
    'thresholds.0.share',
    'expected a share above 0 and up to 1 with at most two decimals, got 0',
  ],
  [
    { thresholds: [{ share: 80 }] },
    'thresholds.0.share',
    'expected a share above 0 and up to 1 with at most two decimals, got 80',
  ],
  [
    { thresholds: [{ share: 0.125 }] },
    'thresholds.0.share',
    'expected a share above 0 and up to 1 with at most two decimals, got 0.125',
  ],
  [
    { thresholds: [{ left: -1 }] },
    'thresholds.0.left',
    'expected a whole number of requests from 0 to 1000000000000000, got -1',
  ],
  [{ thresholds: [{ share: 0.5, left: 5 }] }, 'thresholds.0.share', 'unknown key; known keys: left'],
  [{ thresholds: [0.8] }, 'thresholds.0', 'expected an object, got a number'],
  [{ thresholds: Array.from({ length: 9 }, () => ({ left: 1 })) }, 'thresholds', 'expected 0 to 8 entries, got 9'],
  [{ thresholds: { share: 0.8 } }, 'thresholds', 'expected an array, got an object'],
]

const SUBJECT_FAULTS: readonly (readonly [settings: object, path: string, message: string])[] = [
  [{ plan: 'por' }, 'plan', 'not a plan: "por"; did you mean "pro"?'],
  [{ plan: 5 }, 'plan', 'expected a plan, got 5'],
  [
    { until: { plan: '2027-01-01' } },
    'until.plan',
    'expected epoch milliseconds, or null for no end, got "2027-01-01"',
  ],
  [{ until: { plan: new Date(0) } }, 'until.plan', 'expected epoch milliseconds, or null for no end, got an object'],
  [{ until: { limits: -1 } }, 'until.limits', 'expected epoch milliseconds, or null for no end, got -1'],
  [{ until: { limit: 5 } }, 'until.limit', 'unknown key; did you mean "limits"?'],
  [{ blocked: 'yes' }, 'blocked', 'expected true or false, got "yes"'],
  [{ until: 5 }, 'until', 'expected an object, got a number'],
  [{ anchor: { day: 32 } }, 'anchor.day', 'expected a whole number from 1 to 31, got 32'],
  [{ anchor: { day: 5, hour: 3 } }, 'anchor.hour', 'unknown key; known keys: month, day, time'],
  [{ anchor: 15 }, 'anchor', 'expected an object, got a number'],
  [
    { limits: { running: -1 } },
    'limits.running',
    'expected a whole number of slots from 0 to 1000000000000000, or "unlimited", or null to follow the default, got -1',
  ],
  [{ limits: { ofTeam: 5 } }, 'limits.ofTeam', 'unknown key; known keys: hour, month, running'],
]

describe('settings of every kind of limit', () => {
  it.each(SETTINGS_FAULTS)('settings %j are rejected at %s', async (patch, path, message) => {
    const { quota } = made()
    await expect(quota.settings.update(patch as Anything)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: [{ path, message }],
    })
    expect((await quota.settings.get()).version).toBe(0)
  })

  it.each(SUBJECT_FAULTS)('subject settings %j are rejected at %s', async (settings, path, message) => {
    const { quota } = made()
    await expect(quota.subjects.set({ user: 'u' }, settings as Anything)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: [{ path, message }],
    })
  })

  it('subject settings have the limits of their layer', async () => {
    const { quota } = made()
    expect((await quota.subjects.get({ user: 'u' })).limits).toEqual({ hour: null, month: null, running: null })
    expect((await quota.subjects.get({ team: 't' })).limits).toEqual({ ofTeam: null })
  })

  it('a patch of settings merges names and replaces lists', async () => {
    const { quota } = made()
    await quota.settings.update({
      shadow: { month: true, ofAll: true },
      plans: { pro: { month: 600, hour: 20 }, max: { running: 'unlimited' } },
      thresholds: [{ share: 0.5 }],
    })
    const { settings } = await quota.settings.update({
      shadow: { hour: true, ofAll: null },
      plans: { pro: { month: null } },
    })
    expect(settings.shadow).toEqual({ month: true, hour: true })
    expect(settings.plans).toEqual({ pro: { hour: 20 }, max: { running: 'unlimited' } })
    expect(settings.thresholds).toEqual([{ share: 0.5 }])
    expect((await quota.settings.update({ thresholds: null })).settings.thresholds).toBeNull()
    const { version: _, revision: __, ...whole } = await quota.settings.get()
    expect((await quota.settings.replace({ ...whole, plans: {}, shadow: {} })).settings).toMatchObject({
      plans: {},
      shadow: {},
    })
  })

  it('settings without later members are completed with defaults', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, shadow: ___, plans: ____, thresholds: _____, ...old } = await quota.settings.get()
    settingsStore.write(old, {})
    settingsStore.writeSubject('user', 'u', { limits: { hour: 5, month: null }, bypass: {} }, {})
    const faulty: unknown[] = []
    quota.on('settingsFault', (event) => faulty.push(event))
    expect(await quota.settings.get()).toMatchObject({ version: 1, shadow: {}, plans: {}, thresholds: null })
    expect(await quota.settings.faults()).toEqual([])
    const defaults = { plan: null, blocked: false, until: { limits: null, plan: null, blocked: null }, anchor: null }
    expect(await quota.subjects.get({ user: 'u' })).toMatchObject({ version: 1, ...defaults })
    expect((await quota.status({ user: 'u', team: 't' })).limits.hour?.limit).toBe(5)
    expect(faulty).toEqual([])
  })
})

describe('settings stored by an older or newer version', () => {
  const stored = {
    shadow: { month: true, week: true, running: 7 },
    plans: { pro: { month: 600, week: 50, hour: -3, ofAll: 5 }, later: 5, 'a name of later': { week: 5 } },
    thresholds: [{ share: 2 }],
  }

  it('foreign settings apply as far as the policy has the names, and the rest is reported', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored }, {})
    const settings = await quota.settings.get()
    expect(settings.shadow).toEqual({ month: true })
    expect(settings.plans).toEqual({ pro: { month: 600 }, later: {} })
    expect(settings.thresholds).toBeNull()
    expect((await quota.settings.faults()).map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
      'plans.a name of later: not a name: kept, not in force',
      'plans.later: expected an object: not in force',
      'plans.pro.hour: not a limit: the number without it applies',
      'plans.pro.ofAll: not in the policy: kept, not in force',
      'plans.pro.week: not in the policy: kept, not in force',
      'shadow.running: not a boolean: not in force',
      'shadow.week: not in the policy: kept, not in force',
      'thresholds: not a list of thresholds: those of the options apply',
    ])
    const { month } = (await quota.status({ user: 'u', team: 't' }, { plan: 'pro' })).limits
    expect(month).toMatchObject({ limit: 600, enforced: false })
  })

  it('a known name with a rejected value is removed by the next change', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored, prices: { chat: -3, fly: 7 } }, {})
    await quota.settings.update({ mode: 'lenient' })
    expect((await quota.settings.faults()).map(({ path }) => path).sort()).toEqual([
      'plans.a name of later',
      'plans.pro.ofAll',
      'plans.pro.week',
      'prices.fly',
      'shadow.week',
    ])
  })

  it('`update`, `replace` and `set` keep names that the policy doesn’t have', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored }, {})
    await quota.settings.update({ shadow: { hour: true }, plans: { pro: { month: null } } })
    const shadow = { month: true, hour: true, week: true }
    expect(settingsStore.read()!.document).toMatchObject({ shadow, plans: { pro: { week: 50, ofAll: 5 } } })
    expect((settingsStore.read()!.document as { plans: { pro: object } }).plans.pro).not.toHaveProperty('month')
    await quota.settings.update({ shadow: { month: null, hour: null }, plans: { pro: null } })
    // A plan that is removed goes whole.
    expect(settingsStore.read()!.document).toMatchObject({
      shadow: { week: true },
      plans: { later: {}, 'a name of later': { week: 5 } },
    })
    const { version: ___, revision: ____, ...whole } = await quota.settings.get()
    await quota.settings.replace(whole)
    expect(settingsStore.read()!.document).toMatchObject({ shadow: { week: true } })
  })

  it('foreign subject settings apply and are kept by the rules for settings', async () => {
    const { quota, settingsStore } = made()
    const ofSubject = {
      limits: { hour: 5, week: 7 },
      bypass: { org: true },
      plan: 7,
      blocked: 'yes',
      until: { limits: 'soon', plan: null, bypass: 5 },
      anchor: { day: 40 },
      credit: 3,
    }
    settingsStore.writeSubject('user', 'u', ofSubject, {})
    const paths: string[] = []
    quota.on('settingsFault', ({ faults }) => paths.push(...faults.map(({ path }) => path)))
    await quota.peek({ subject: { user: 'u', team: 't' }, operation: 'ask' })
    expect(paths.sort()).toEqual([
      ...['anchor', 'blocked', 'bypass.org', 'credit', 'limits.week', 'plan', 'until.bypass', 'until.limits'],
    ])
    const none = { limits: null, plan: null, blocked: null }
    const settings = await quota.subjects.get({ user: 'u' })
    expect(settings).toMatchObject({ plan: null, blocked: false, until: none, anchor: null })
    await quota.subjects.set({ user: 'u' }, { plan: 'pro', until: { plan: 5 } })
    expect(settingsStore.readSubject('user', 'u')!.document).toEqual({
      limits: { hour: null, month: null, running: null, week: 7 },
      bypass: { org: true },
      plan: 'pro',
      blocked: false,
      until: { ...none, plan: 5, bypass: 5 },
      anchor: null,
      credit: 3,
    })
  })

  it('where a limit is no bucket, the limit of a number with a burst applies, and other changes keep the burst', async () => {
    const settingsStore = memorySettings()
    const pair = { limit: 18, burst: 6 }
    const calls = { by: 'user', limit: 13, per: '1m' } as const
    const of = (limits: object) => made(definePolicy({ limits } as never) as Policy, settingsStore).quota
    const [bucket, window] = [of({ calls: { ...calls, burst: 4 } }), of({ calls })]
    const renamed = of({ called: { ...calls, formerly: 'calls' } })
    const all = { custom: { calls: pair }, limits: { calls: pair }, plans: { pro: { calls: pair } } }
    await bucket.settings.update(all)
    await bucket.subjects.set('u', { limits: { calls: { limit: 12, burst: 2 } } })
    await window.settings.update({ mode: 'lenient', custom: {}, plans: { pro: {} } })
    await window.subjects.update('u', { blocked: false })
    expect((await window.status('u')).limits.calls).toMatchObject({ limit: 12, from: 'subject' })
    expect((await window.status('v')).limits.calls).toMatchObject({ limit: 27, from: 'base' })
    expect((await bucket.status('v')).limits.calls).toMatchObject({ limit: 27, burst: 6 })
    const { version: _, revision: __, ...whole } = await window.settings.get()
    await window.settings.replace({ ...whole, mode: 'normal' })
    expect(await bucket.settings.get()).toMatchObject({ ...all, mode: 'normal' })
    expect((await bucket.subjects.get('u')).limits).toEqual({ calls: { limit: 12, burst: 2 } })
    expect(await window.settings.faults()).toEqual([])
    await renamed.settings.update({ mode: 'normal' })
    expect(settingsStore.read()!.document).toMatchObject({
      limits: { called: pair },
      custom: { called: pair },
      plans: { pro: { called: pair } },
    })
    // A change that names the limit replaces the pair.
    await window.settings.update({
      custom: { calls: 5 },
      limits: { calls: 9 },
      plans: { pro: { calls: null } },
    } as never)
    await window.subjects.set('u', { limits: { calls: 7 } })
    expect(await bucket.settings.get()).toMatchObject({
      custom: { calls: 5 },
      limits: { calls: 9 },
      plans: { pro: {} },
    })
    expect((await bucket.subjects.get('u')).limits).toEqual({ calls: 7 })
    // Requests and policies know their own limits.
    const request = { subject: 'u', limits: { calls: pair } } as never
    await expect(window.consume(request)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('a subject’s removed plan applies again when the settings add a plan with that name', async () => {
    const { quota, settingsStore } = made()
    settingsStore.writeSubject('user', 'u', { plan: 'gone' }, {})
    expect((await quota.subjects.get({ user: 'u' })).plan).toBe('gone')
    await quota.settings.update({ plans: { gone: { hour: 77 } } })
    expect((await quota.status({ user: 'u', team: 't' })).limits.hour?.limit).toBe(77)
  })
})

describe('warnings about settings', () => {
  it('limits of plans below a price are warned about at their effective values', async () => {
    const { quota } = made()
    const plans = { small: { hour: 4, month: 0 }, none: { running: 0 } }
    const { warnings } = await quota.settings.update({ plans, limits: { running: 0 } })
    expect(warnings).toEqual([
      { path: 'limits.running', message: 'a limit of 0 never admits chat' },
      { path: 'plans.small.hour', message: 'the effective limit of 4 requests is below the price of chat' },
      { path: 'plans.small.month', message: 'the effective limit of 0 requests is below the price of chat, ask' },
      { path: 'plans.none.running', message: 'a limit of 0 never admits chat' },
    ])
  })

  it('slots below a price and shadowed limits aren’t warned about', async () => {
    const { quota } = made()
    expect((await quota.settings.update({ limits: { running: 1 } })).warnings).toEqual([])
    expect((await quota.settings.update({ limits: { hour: 2 }, shadow: { hour: true } })).warnings).toEqual([])
    expect((await quota.settings.update({ shadow: { hour: null } })).warnings).toHaveLength(1)
  })
})

describe('policies that lose limits', () => {
  it('a policy without plans or concurrency uses the remaining stored settings', async () => {
    const first = made()
    await first.quota.settings.update({ shadow: { running: true }, limits: { running: 9, hour: 11 } })
    const less = { ...policy, plans: {}, limits: policy.limits.filter(({ unit }) => unit !== 'slots') }
    const { quota } = made(less, first.settingsStore)
    const { limits } = await quota.status({ user: 'u', team: 't' }, { plan: 'pro' })
    expect(Object.values(limits).map((each) => each?.limit)).toEqual([11, 100, 10, 100])
    expect((await quota.settings.get()).shadow).toEqual({})
    await quota.settings.update({ mode: 'lenient' })
    const after = await first.quota.settings.get()
    expect(after).toMatchObject({ mode: 'lenient', shadow: { running: true }, limits: { running: 9 } })
    expect(await first.quota.settings.faults()).toEqual([])
  })
})
