import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy, memorySettings, memoryStore, type Policy, type QuotaOptions } from '../src/index.ts'
import { HOUR, testClock } from './support.ts'

const policy = definePolicy({
  windows: [
    { label: '1h', lengthMs: HOUR },
    { label: 'month', every: 'month', timeZone: 'UTC', anchor: 'subject' },
  ],
  categories: ['call'],
  layers: [{ name: 'user' }, { name: 'team' }, { name: 'all', shared: true }],
  operations: { chat: { category: 'call', cost: 5 }, ask: { category: 'call', cost: 1 } },
  concurrency: { label: 'running', operations: ['chat'] },
  base: {
    user: { call: { '1h': 10, month: 100, running: 2 } },
    team: { call: { '1h': 10, month: 100 } },
    all: { call: { '1h': 100, month: 1_000, running: 50 } },
  },
  plans: { pro: { user: { call: { month: 500 } } } },
})

function made(options: Partial<QuotaOptions> = {}) {
  const clock = testClock(Date.UTC(2026, 7, 6))
  const settingsStore = memorySettings()
  const shared = { clock, calendar: luxonCalendar(), store: memoryStore({ clock }), settingsStore }
  return { clock, settingsStore, quota: createQuota<string>({ ...shared, policy, ...options }) }
}

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const SETTINGS_FAULTS: readonly (readonly [patch: object, path: string, message: string])[] = [
  [{ shadow: { site: 'all' } }, 'shadow.site', 'not a layer: "site"; the policy has user, team, all'],
  [{ shadow: { usr: 'all' } }, 'shadow.usr', 'not a layer: "usr"; did you mean "user"?'],
  [{ shadow: { user: ['moth'] } }, 'shadow.user.0', 'not a limit: "moth"; did you mean "month"?'],
  [{ shadow: { user: [5] } }, 'shadow.user.0', 'expected a limit, got 5'],
  [
    { shadow: { user: 'month' } },
    'shadow.user',
    'expected "all", or a list of limits: 1h, month, running, got "month"',
  ],
  [{ shadow: { user: true } }, 'shadow.user', 'expected "all", or a list of limits: 1h, month, running, got true'],
  [{ shadow: ['user'] }, 'shadow', 'expected an object of limits by layer, got an array'],
  [
    { plans: { pro: { all: { call: { month: 5 } } } } },
    'plans.pro.all',
    "a shared layer: plans are for layers of each subject's own: user, team",
  ],
  [{ plans: { pro: { usr: {} } } }, 'plans.pro.usr', 'not a layer: "usr"; did you mean "user"?'],
  [{ plans: { pro: { user: { cal: {} } } } }, 'plans.pro.user.cal', 'not a category: "cal"; did you mean "call"?'],
  [
    { plans: { pro: { user: { call: { moth: 5 } } } } },
    'plans.pro.user.call.moth',
    'not a limit: "moth"; did you mean "month"?',
  ],
  [
    { plans: { pro: { team: { call: { running: 5 } } } } },
    'plans.pro.team.call.running',
    'the base has no such limit for team and call',
  ],
  [
    { plans: { pro: { user: { call: { month: -1 } } } } },
    'plans.pro.user.call.month',
    'expected a whole number of tokens from 0 to 100000000000, or "unlimited", got -1',
  ],
  [
    { plans: { pro: { user: { call: 5 } } } },
    'plans.pro.user.call',
    'expected an object of limits by label, got a number',
  ],
  [{ plans: { 'p r': {} } }, 'plans.p r', 'expected a plan\'s name of 1 to 32 of A-Z a-z 0-9 _ -, got "p r"'],
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
    'expected a whole number of tokens from 0 to 100000000000, got -1',
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
  [{ until: { overrides: -1 } }, 'until.overrides', 'expected epoch milliseconds, or null for no end, got -1'],
  [{ until: { override: 5 } }, 'until.override', 'unknown key; did you mean "overrides"?'],
  [{ until: 5 }, 'until', 'expected an object, got a number'],
  [{ anchor: { day: 32 } }, 'anchor.day', 'expected a whole number from 1 to 31, got 32'],
  [{ anchor: { day: 5, hour: 3 } }, 'anchor.hour', 'unknown key; known keys: month, day, time'],
  [{ anchor: 15 }, 'anchor', 'expected an object, got a number'],
  [
    { overrides: { call: { running: -1 } } },
    'overrides.call.running',
    'expected a whole number of tokens from 0 to 100000000000, "unlimited", or null to follow the default, got -1',
  ],
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
    await expect(quota.subjects.set('u', settings as Anything)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: [{ path, message }],
    })
  })

  it('subject settings accept the limits of their layer', async () => {
    const { quota } = made()
    expect((await quota.subjects.get('u')).overrides).toEqual({ call: { '1h': null, month: null, running: null } })
    expect((await quota.subjects.get('t', { layer: 'team' })).overrides).toEqual({ call: { '1h': null, month: null } })
    await expect(
      quota.subjects.set('t', { overrides: { call: { running: 5 } } }, { layer: 'team' }),
    ).rejects.toMatchObject({ faults: [{ path: 'overrides.call.running' }] })
  })

  it('a patch of settings merges names and replaces lists', async () => {
    const { quota } = made()
    await quota.settings.update({
      shadow: { user: ['month'], all: 'all' },
      plans: { pro: { user: { call: { month: 600, '1h': 20 } } }, max: { user: { call: { running: 'unlimited' } } } },
      thresholds: [{ share: 0.5 }],
    })
    const { settings } = await quota.settings.update({
      shadow: { user: ['1h'], all: null },
      plans: { pro: { user: { call: { month: null } } } },
    })
    expect(settings.shadow).toEqual({ user: ['1h'] })
    expect(settings.plans).toEqual({
      pro: { user: { call: { '1h': 20 } } },
      max: { user: { call: { running: 'unlimited' } } },
    })
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
    settingsStore.writeSubject('user', 'u', { overrides: { call: { '1h': 5, month: null } }, bypass: [] }, {})
    const faulty: unknown[] = []
    quota.on('settingsFault', (event) => faulty.push(event))
    expect(await quota.settings.get()).toMatchObject({ version: 1, shadow: {}, plans: {}, thresholds: null })
    expect(await quota.settings.faults()).toEqual([])
    const defaults = { plan: null, until: { overrides: null, plan: null }, anchor: null }
    expect(await quota.subjects.get('u')).toMatchObject({ version: 1, ...defaults })
    expect((await quota.status({ user: 'u', team: 't' })).windows.call![0]!.limit).toBe(5)
    expect(faulty).toEqual([])
  })
})

describe('settings stored by an older or newer version', () => {
  const stored = {
    shadow: { user: ['month', 'week'], org: 'all', all: 'some', team: 7 },
    plans: {
      pro: {
        user: { call: { month: 600, week: 50, '1h': -3 }, fly: { '1h': 5 } },
        org: {},
        all: { call: { month: 5 } },
      },
      later: { user: 5 },
      'a name of later': { user: {} },
    },
    thresholds: [{ share: 2 }],
  }

  it('foreign settings apply as far as the policy has the names, and the rest is reported', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored }, {})
    const settings = await quota.settings.get()
    expect(settings.shadow).toEqual({ user: ['month'] })
    expect(settings.plans).toEqual({ pro: { user: { call: { month: 600 } } }, later: { user: {} } })
    expect(settings.thresholds).toBeNull()
    expect((await quota.settings.faults()).map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
      'plans.a name of later: not a name: kept, not in force',
      'plans.later.user: expected an object: not in force',
      'plans.pro.all: not in the policy: kept, not in force',
      'plans.pro.org: not in the policy: kept, not in force',
      'plans.pro.user.call.1h: not a limit: what there is without it applies',
      'plans.pro.user.call.week: not in the policy: kept, not in force',
      'plans.pro.user.fly: not in the policy: kept, not in force',
      'shadow.all: expected "all", or a list of limits: none is shadowed',
      'shadow.org: not in the policy: kept, not in force',
      'shadow.team: expected "all", or a list of limits: none is shadowed',
      'shadow.user: no limit "week": not in force',
      'thresholds: not a list of thresholds: those of the options apply',
    ])
    const { windows } = await quota.status({ user: 'u', team: 't' }, { plan: 'pro' })
    expect(windows.call!.slice(0, 2).map(({ limit, enforced }) => [limit, enforced])).toEqual([
      [10, true],
      [600, false],
    ])
  })

  it('a known name with a rejected value is removed by the next change', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored, prices: { chat: -3, fly: 7 } }, {})
    await quota.settings.update({ mode: 'lenient' })
    expect((await quota.settings.faults()).map(({ path }) => path).sort()).toEqual([
      'plans.a name of later',
      'plans.pro.all',
      'plans.pro.org',
      'plans.pro.user.call.week',
      'plans.pro.user.fly',
      'prices.fly',
      'shadow.org',
      'shadow.user',
    ])
  })

  it('`update`, `replace` and `set` keep names that the policy doesn’t have', async () => {
    const { quota, settingsStore } = made()
    const { version: _, revision: __, ...own } = await quota.settings.get()
    settingsStore.write({ ...own, ...stored }, {})
    await quota.settings.update({ shadow: { user: ['1h'] }, plans: { pro: { user: { call: { month: null } } } } })
    expect(settingsStore.read()!.document).toMatchObject({
      shadow: { user: ['1h', 'week'], org: 'all' },
      plans: {
        pro: { user: { call: { week: 50 }, fly: { '1h': 5 } }, all: { call: { month: 5 } } },
        'a name of later': { user: {} },
      },
    })
    const { plans } = settingsStore.read()!.document as {
      plans: Record<string, Record<string, Record<string, object>>>
    }
    expect(plans.pro!.user!.call).toEqual({ week: 50 })
    await quota.settings.update({ shadow: { user: null }, plans: { pro: null } })
    const { shadow, plans: left } = settingsStore.read()!.document as { shadow: object; plans: object }
    // A plan that is removed goes whole; a layer keeps limits shadowed under names of others.
    expect(shadow).toEqual({ user: ['week'], org: 'all' })
    expect(left).toEqual({ later: { user: {} }, 'a name of later': { user: {} } })
    const { version: ___, revision: ____, ...whole } = await quota.settings.get()
    await quota.settings.replace(whole)
    expect(settingsStore.read()!.document).toMatchObject({ shadow: { user: ['week'], org: 'all' } })
  })

  it('foreign subject settings apply and are kept by the rules for settings', async () => {
    const { quota, settingsStore } = made()
    const ofSubject = {
      overrides: { call: { '1h': 5, week: 7 } },
      bypass: ['org'],
      plan: 7,
      until: { overrides: 'soon', plan: null, bypass: 5 },
      anchor: { day: 40 },
      credit: 3,
    }
    settingsStore.writeSubject('user', 'u', ofSubject, {})
    const paths: string[] = []
    quota.on('settingsFault', ({ faults }) => paths.push(...faults.map(({ path }) => path)))
    await quota.peek({ subject: { user: 'u', team: 't' }, operation: 'ask' })
    expect(paths.sort()).toEqual([
      'anchor',
      'bypass',
      'credit',
      'overrides.call.week',
      'plan',
      'until.bypass',
      'until.overrides',
    ])
    const settings = await quota.subjects.get('u')
    expect(settings).toMatchObject({ plan: null, until: { overrides: null, plan: null }, anchor: null })
    await quota.subjects.set('u', { plan: 'pro', until: { plan: 5 } })
    expect(settingsStore.readSubject('user', 'u')!.document).toEqual({
      overrides: { call: { '1h': null, month: null, running: null, week: 7 } },
      bypass: ['org'],
      plan: 'pro',
      until: { overrides: null, plan: 5, bypass: 5 },
      anchor: null,
      credit: 3,
    })
  })

  it('a subject’s removed plan applies again when the settings add a plan with that name', async () => {
    const { quota, settingsStore } = made()
    settingsStore.writeSubject('user', 'u', { plan: 'gone' }, {})
    expect((await quota.subjects.get('u')).plan).toBe('gone')
    await quota.settings.update({ plans: { gone: { user: { call: { '1h': 77 } } } } })
    expect((await quota.status({ user: 'u', team: 't' })).windows.call![0]!.limit).toBe(77)
  })
})

describe('warnings about settings', () => {
  it('limits of plans below a price are warned about at their effective values', async () => {
    const { quota } = made()
    const plans = { small: { user: { call: { '1h': 4, month: 0 } } }, none: { user: { call: { running: 0 } } } }
    const { warnings } = await quota.settings.update({ plans, base: { user: { call: { running: 0 } } } })
    expect(warnings).toEqual([
      { path: 'base.user.call.running', message: 'a limit of 0 lets no work be under way of chat' },
      { path: 'plans.small.user.call.1h', message: 'the effective limit of 4 tokens is below the price of chat' },
      {
        path: 'plans.small.user.call.month',
        message: 'the effective limit of 0 tokens is below the price of chat, ask',
      },
      { path: 'plans.none.user.call.running', message: 'a limit of 0 lets no work be under way of chat' },
    ])
  })

  it('slots below a price and shadowed limits aren’t warned about', async () => {
    const { quota } = made()
    expect((await quota.settings.update({ base: { user: { call: { running: 1 } } } })).warnings).toEqual([])
    const low = { base: { user: { call: { '1h': 2 } } } } as const
    expect((await quota.settings.update({ ...low, shadow: { user: ['1h'] } })).warnings).toEqual([])
    expect((await quota.settings.update({ shadow: { user: null } })).warnings).toHaveLength(1)
  })
})

describe('policies that lose a kind of limit', () => {
  it('a policy without plans or concurrency uses the remaining stored settings', async () => {
    const first = made()
    await first.quota.settings.update({ shadow: { user: ['running'] }, base: { user: { call: { running: 9 } } } })
    const { concurrency: _, plans: __, base, ...rest } = policy
    const { running: ___, ...ofUser } = base.user.call
    const { running: ____, ...ofAll } = base.all.call
    const less: Policy = {
      ...rest,
      base: { user: { call: ofUser }, team: { call: { '1h': 10, month: 100 } }, all: { call: ofAll } },
    }
    const { quota } = made({ policy: less, settingsStore: first.settingsStore })
    expect(
      (await quota.status({ user: 'u', team: 't' }, { plan: 'pro' })).windows.call!.map(({ limit }) => limit),
    ).toEqual([10, 100, 10, 100, 100, 1_000])
    expect((await quota.settings.get()).shadow).toEqual({ user: [] })
    await quota.settings.update({ mode: 'lenient' })
    const after = await first.quota.settings.get()
    expect(after).toMatchObject({ shadow: { user: ['running'] }, base: { user: { call: { running: 9 } } } })
    expect(await first.quota.settings.faults()).toEqual([])
  })
})
