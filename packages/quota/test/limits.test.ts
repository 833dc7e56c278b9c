import { describe, expect, it } from 'vitest'
import { CompiledSettings } from '../src/engine/settings/compiled-settings.ts'
import {
  createQuota,
  definePolicy,
  type Limit,
  type Policy,
  type Settings,
  type SubjectSettings,
} from '../src/index.ts'
import { categoryOf, layerAt, placedLimits, policyLayerOf } from '../src/policy/cells.ts'
import { effectiveQuotas, type LimitsOf, type Quotas } from '../src/policy/limits.ts'
import { initialSettings, initialSubjectSettings } from '../src/policy/settings.ts'
import { HOUR, testClock } from './support.ts'

/** Two own layers and a shared one; windows named in another order than that of a row; slots where there are some. */
const policy: Policy = {
  windows: [
    { label: 'month', every: 'month', timeZone: 'UTC', anchor: 'subject' },
    { label: '1h', lengthMs: HOUR },
  ],
  categories: ['call', 'look'],
  layers: [
    { name: 'user', scope: 'User', shared: false },
    { name: 'team', scope: 'Team', shared: false },
    { name: 'all', scope: 'All', shared: true },
  ],
  operations: {
    chat: { category: 'call', cost: 1, overrun: 'fit', maxOverrun: 5 },
    ask: { category: 'call', cost: 1 },
    see: { category: 'look', cost: 1 },
  },
  concurrency: { label: 'running', operations: ['chat'] },
  base: {
    user: { call: { month: 100, '1h': 10, running: 2 }, look: { month: 200, '1h': 20 } },
    team: { call: { month: 1_000, '1h': 'unlimited' }, look: { month: 2_000, '1h': 200 } },
    all: { call: { month: 10_000, '1h': 1_000, running: 50 }, look: { month: 20_000, '1h': 2_000 } },
  },
  plans: {
    pro: { user: { call: { month: 500, running: 5 } }, team: { call: { month: 5_000 } } },
    free: { user: { call: { '1h': 0 } } },
  },
}
const none = Number.POSITIVE_INFINITY

function settingsWith(members: Partial<Settings> = {}): Settings {
  return { ...initialSettings(policy), ...members }
}

function subjectWith(layer: string, members: Partial<SubjectSettings>): SubjectSettings {
  return { ...initialSubjectSettings(policy, layer), ...members }
}

function quotas(settings: Settings, of: LimitsOf = {}, factorHundredths = 100) {
  return byCategory(effectiveQuotas({ policy, settings, factorHundredths }, of))
}

/** The parts of quotas that each category has, by the indices of its layers. */
function byCategory({ layers, limits: all, shadowed: shades, slotless, ...rest }: Quotas) {
  return policy.categories.map((_, category) => {
    const own = [0, 1, 2].filter((layer) => layers.includes(layerAt(policy, layer, category)))
    const ofCategory = <T>(values: readonly T[]): T[] =>
      values.filter((__, at) => {
        const layer = placedLimits(policy).layout.layerOf[at]!
        return layer % 2 === category && own.includes(policyLayerOf(policy, layer))
      })
    const shadowed = shades && ofCategory(shades)
    return {
      layers: own,
      limits: ofCategory(all),
      ...(shadowed?.some((limit) => limit !== undefined) && { shadowed }),
      ...(slotless?.some((set) => categoryOf(set) === category) && { isSlotless: true }),
      ...rest,
    }
  })
}

/** Limits of the first category: hour, month, slots, of user, team and all. */
function limits(settings: Settings, of: LimitsOf = {}): readonly number[] {
  return quotas(settings, of)[0]!.limits
}

describe('prices above a limit', () => {
  const made = (read: number, warn: (message: unknown) => void) => {
    const base = { user: { read: { '1h': read, '1d': 100 } } }
    const windows = [
      { label: '1h', lengthMs: 3_600_000 },
      { label: '1d', lengthMs: 86_400_000 },
    ]
    const operations = { look: { category: 'read', cost: 5 }, load: { category: 'read', cost: 20 } } as const
    return createQuota({
      policy: definePolicy({ windows, categories: ['read'], layers: [{ name: 'user' }], operations, base }),
      logger: { warn, error: warn },
    })
  }

  it('a price above a limit is warned about at construction, unless the limit is 0 to block', () => {
    const warned: unknown[] = []
    made(20, (message) => warned.push(message))
    made(0, (message) => warned.push(message))
    expect(warned).toEqual([])
    made(10, (message) => warned.push(message))
    expect(warned).toEqual([
      'createQuota(): base.user.read.1h: the effective limit of 10 tokens is below the price of load',
    ])
  })
})

describe('compiled limits', () => {
  it('limits are in row order with slots last, and categories without a limit have none', () => {
    expect(quotas(settingsWith())).toEqual([
      { layers: [0, 1, 2], limits: [10, 100, 2, none, 1_000, none, 1_000, 10_000, 50] },
      { layers: [0, 1, 2], limits: [20, 200, none, 200, 2_000, none, 2_000, 20_000, none] },
    ])
  })

  it('mode and multiplier scale window limits but not slots', () => {
    const settings = settingsWith({ mode: 'lenient', layers: { all: { enabled: true, multiplier: 0.5 } } })
    expect(limits(settings)).toEqual([15, 150, 2, none, 1_500, none, 750, 7_500, 50])
    expect(quotas(settingsWith({ mode: 'adaptive' }), {}, 75)[0]!.limits).toEqual([
      7,
      75,
      2,
      none,
      750,
      none,
      750,
      7_500,
      50,
    ])
  })

  it('a plan’s limits are scaled like the base, and fall back to the base', () => {
    expect(limits(settingsWith({ mode: 'conservative' }), { plan: 'pro' })).toEqual([
      7,
      375,
      5,
      none,
      3_750,
      none,
      750,
      7_500,
      50,
    ])
  })

  it('a plan’s limits replace the custom table in mode custom', () => {
    const custom = structuredClone(policy.base) as Record<string, Record<string, Record<string, Limit>>>
    custom.user!.call = { month: 70, '1h': 7, running: 1 }
    const settings = settingsWith({ mode: 'custom', custom })
    expect(limits(settings).slice(0, 3)).toEqual([7, 70, 1])
    expect(limits(settings, { plan: 'pro' }).slice(0, 3)).toEqual([7, 500, 5])
  })

  it('overrides come before plans, plans before the base, and overrides aren’t scaled', () => {
    const user = subjectWith('user', { overrides: { call: { month: 42, '1h': null, running: 3 } }, plan: 'pro' })
    expect(limits(settingsWith({ mode: 'lenient' }), { subjects: { user } }).slice(0, 3)).toEqual([15, 42, 3])
    const open = subjectWith('user', { overrides: { call: { month: 'unlimited', '1h': 0, running: null } } })
    expect(limits(settingsWith(), { subjects: { user: open } }).slice(0, 3)).toEqual([0, none, 2])
  })

  it('a concurrency limit that the base doesn’t have can’t be added by overrides', () => {
    const team = subjectWith('team', { overrides: { call: { running: 1 } } })
    expect(limits(settingsWith(), { subjects: { team } })[5]).toBe(none)
  })

  it('the stored plan of each layer comes before the request’s plan', () => {
    const user = subjectWith('user', { plan: 'free' })
    expect(limits(settingsWith(), { subjects: { user }, plan: 'pro' })).toEqual([
      0,
      100,
      2,
      none,
      5_000,
      none,
      1_000,
      10_000,
      50,
    ])
    const team = subjectWith('team', { plan: 'free' })
    expect(limits(settingsWith(), { subjects: { team }, plan: 'pro' }).slice(0, 6)).toEqual([
      10,
      500,
      5,
      none,
      1_000,
      none,
    ])
  })

  it('an unknown plan falls back to the base, even if the request names a known plan', () => {
    expect(limits(settingsWith(), { plan: 'gone' })).toEqual(limits(settingsWith()))
    expect(limits(settingsWith(), { plan: 'constructor' })).toEqual(limits(settingsWith()))
    const user = subjectWith('user', { plan: 'gone' })
    expect(limits(settingsWith(), { subjects: { user }, plan: 'pro' }).slice(0, 3)).toEqual([10, 100, 2])
  })

  it('plans in settings override the policy’s plans value by value and can be new', () => {
    const plans = { pro: { user: { call: { month: 600 } } }, max: { user: { look: { '1h': 'unlimited' as const } } } }
    expect(limits(settingsWith({ plans }), { plan: 'pro' }).slice(0, 6)).toEqual([10, 600, 5, none, 5_000, none])
    expect(quotas(settingsWith({ plans }), { plan: 'max' })[1]!.limits.slice(0, 3)).toEqual([none, 200, none])
  })

  it('shadowed limits become unlimited, and are listed with their places', () => {
    const settings = settingsWith({ mode: 'lenient', shadow: { all: 'all', user: ['month', 'running'] } })
    const [call, look] = quotas(settings)
    expect(call).toEqual({
      layers: [0, 1, 2],
      limits: [15, none, none, none, 1_500, none, none, none, none],
      shadowed: [undefined, 150, 2, undefined, undefined, undefined, 1_500, 15_000, 50],
    })
    // There is no limit of concurrency here that could be shadowed.
    expect(look!.shadowed).toEqual([
      undefined,
      300,
      undefined,
      undefined,
      undefined,
      undefined,
      3_000,
      30_000,
      undefined,
    ])
  })

  it('no shadowed limits are listed when their layer is disabled', () => {
    const off = settingsWith({ shadow: { all: 'all', team: [] }, layers: { all: { enabled: false, multiplier: 1 } } })
    expect(quotas(off)[0]).toEqual({ layers: [0, 1], limits: [10, 100, 2, none, 1_000, none] })
  })

  it('limits include the anchor of a subject that has one', () => {
    const user = subjectWith('user', { anchor: { day: 15 } })
    expect(quotas(settingsWith(), { subjects: { user } })[0]!.anchors).toEqual([{ day: 15 }, null, null])
    expect(quotas(settingsWith(), { subjects: { team: subjectWith('team', {}) } })[0]).not.toHaveProperty('anchors')
  })
})

describe('compiled settings', () => {
  const nobody = (): void => undefined

  function compiled(members: Partial<Settings> = {}): CompiledSettings {
    return new CompiledSettings(policy, { ...initialSettings(policy), ...members })
  }

  it('compiled settings list operations with slots and overruns, whichever layers are enabled', () => {
    const { operations } = compiled({ layers: { all: { enabled: false, multiplier: 1 } } })
    expect([...operations.values()]).toMatchObject([
      { name: 'chat', set: 1, costs: [1, 1], overrun: 'fit', maxOverrun: [5] },
      { name: 'ask', set: 1, costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
      { name: 'see', set: 2, costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
    ])
    const byCategory = { ...policy, concurrency: { label: 'running', categories: ['call', 'look'] } }
    const others = new CompiledSettings(byCategory, initialSettings(byCategory)).operations
    // No layer limits how many looks are in flight.
    expect([...others.values()].map(({ costs }) => costs[1])).toEqual([1, 1, 0])
  })

  it('equal subjects and plans have equal quotas, compiled once', () => {
    const settings = compiled()
    const clock = testClock()
    const of = (subjects: Readonly<Record<string, SubjectSettings>>, plan?: string) =>
      settings.quotasOf(subjects, plan, clock, nobody)
    const user = subjectWith('user', { plan: 'pro' })
    const team = subjectWith('team', { plan: 'pro' })
    const asked = [of({}), of({}, 'pro'), of({ user }), of({ team }), of({ user, team }), of({ user }, 'pro')]
    expect(asked.map((each) => byCategory(each)[0]!.limits.slice(0, 6).join(' '))).toEqual([
      '10 100 2 Infinity 1000 Infinity',
      '10 500 5 Infinity 5000 Infinity',
      '10 500 5 Infinity 1000 Infinity',
      '10 100 2 Infinity 5000 Infinity',
      '10 500 5 Infinity 5000 Infinity',
      '10 500 5 Infinity 5000 Infinity',
    ])
    const again = [of({}), of({}, 'pro'), of({ user }), of({ team }), of({ user, team }), of({ user }, 'pro')]
    for (const [index, each] of again.entries()) expect(each).toBe(asked[index])
    expect(of({}, 'gone-1')).toBe(of({}, 'gone-2'))
    expect(of({ user }, 'gone')).toBe(of({ user }))
  })

  it('layers whose settings are one document object have separate quotas', () => {
    const settings = compiled()
    const same = subjectWith('user', { plan: 'pro' })
    const of = (subjects: Readonly<Record<string, SubjectSettings>>) =>
      byCategory(settings.quotasOf(subjects, undefined, testClock(), nobody))[0]!.limits.slice(0, 6)
    expect(of({ user: same })).toEqual([10, 500, 5, none, 1_000, none])
    expect(of({ team: same })).toEqual([10, 100, 2, none, 5_000, none])
  })

  it('overrides and plans expire separately, and the clock is read only where one can expire', () => {
    const settings = compiled()
    const clock = testClock(1_000)
    let asked = 0
    const asking = {
      now: () => {
        asked++
        return clock.now()
      },
    }
    const user = subjectWith('user', {
      overrides: { call: { month: 42, '1h': null, running: null } },
      plan: 'pro',
      until: { overrides: 2_000, plan: 3_000 },
    })
    const limitsAt = (at: number) => {
      clock.at = at
      return byCategory(settings.quotasOf({ user }, undefined, asking, nobody))[0]!
        .limits.slice(0, 3)
        .join(' ')
    }
    expect([1_000, 1_999, 2_000, 2_999, 3_000, 1_000].map(limitsAt)).toEqual([
      '10 42 5',
      '10 42 5',
      '10 500 5',
      '10 500 5',
      '10 100 2',
      '10 42 5',
    ])
    expect(asked).toBe(6)
    settings.quotasOf({ user: subjectWith('user', { plan: 'pro' }) }, 'pro', asking, nobody)
    expect(asked).toBe(6)
  })

  it('an expired stored plan gives way to the request’s plan', () => {
    const user = subjectWith('user', { plan: 'free', until: { overrides: null, plan: 2_000 } })
    const settings = compiled()
    const at = (now: number) =>
      byCategory(settings.quotasOf({ user }, 'pro', testClock(now), nobody))[0]!.limits.slice(0, 3)
    expect(at(1_999)).toEqual([0, 100, 2])
    expect(at(2_000)).toEqual([10, 500, 5])
  })
})
