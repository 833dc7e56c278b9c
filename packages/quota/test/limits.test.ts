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
import { policyCells } from '../src/policy/cells.ts'
import { effectiveQuotas, type LimitsOf } from '../src/policy/limits.ts'
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
  return effectiveQuotas({ policy, cells: policyCells(policy), settings, factorHundredths }, of)
}

/** Limits of the first category: hour, month, slots, of user, team and all. */
function limits(settings: Settings, of: LimitsOf = {}): readonly number[] {
  return quotas(settings, of)[0]!.limits
}

describe('a price above a limit', () => {
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

  it('is warned of at construction, but not where a limit is to block', () => {
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

describe('limits', () => {
  it('stand in the order of a row, slots last, and there is none where the base has none', () => {
    expect(quotas(settingsWith())).toEqual([
      { layers: [0, 1, 2], limits: [10, 100, 2, none, 1_000, none, 1_000, 10_000, 50] },
      { layers: [0, 1, 2], limits: [20, 200, none, 200, 2_000, none, 2_000, 20_000, none] },
    ])
  })

  it('of a window are scaled by mode and multiplier, and slots by neither', () => {
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

  it('of a plan are scaled as the base is, and follow it where the plan says nothing', () => {
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

  it('of a plan are taken as they are in mode custom, in place of its table', () => {
    const custom = structuredClone(policy.base) as Record<string, Record<string, Record<string, Limit>>>
    custom.user!.call = { month: 70, '1h': 7, running: 1 }
    const settings = settingsWith({ mode: 'custom', custom })
    expect(limits(settings).slice(0, 3)).toEqual([7, 70, 1])
    expect(limits(settings, { plan: 'pro' }).slice(0, 3)).toEqual([7, 500, 5])
  })

  it('are overridden before a plan, which comes before the base, and overrides are not scaled', () => {
    const user = subjectWith('user', { overrides: { call: { month: 42, '1h': null, running: 3 } }, plan: 'pro' })
    expect(limits(settingsWith({ mode: 'lenient' }), { subjects: { user } }).slice(0, 3)).toEqual([15, 42, 3])
    const open = subjectWith('user', { overrides: { call: { month: 'unlimited', '1h': 0, running: null } } })
    expect(limits(settingsWith(), { subjects: { user: open } }).slice(0, 3)).toEqual([0, none, 2])
  })

  it('of concurrency are not there where the base has none, whatever overrides say', () => {
    const team = subjectWith('team', { overrides: { call: { running: 1 } } })
    expect(limits(settingsWith(), { subjects: { team } })[5]).toBe(none)
  })

  it('go by the stored plan of each layer, else by that of the request', () => {
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

  it('follow the base where nobody knows the plan, also where that is stored and the request names another', () => {
    expect(limits(settingsWith(), { plan: 'gone' })).toEqual(limits(settingsWith()))
    expect(limits(settingsWith(), { plan: 'constructor' })).toEqual(limits(settingsWith()))
    const user = subjectWith('user', { plan: 'gone' })
    expect(limits(settingsWith(), { subjects: { user }, plan: 'pro' }).slice(0, 3)).toEqual([10, 100, 2])
  })

  it('of plans in settings come before those of the policy, value by value, and may be of other plans', () => {
    const plans = { pro: { user: { call: { month: 600 } } }, max: { user: { look: { '1h': 'unlimited' as const } } } }
    expect(limits(settingsWith({ plans }), { plan: 'pro' }).slice(0, 6)).toEqual([10, 600, 5, none, 5_000, none])
    expect(quotas(settingsWith({ plans }), { plan: 'max' })[1]!.limits.slice(0, 3)).toEqual([none, 200, none])
  })

  it('that are shadowed are none, and are reported in their places', () => {
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

  it('are reported as not shadowed where none of those that apply is', () => {
    const off = settingsWith({ shadow: { all: 'all', team: [] }, layers: { all: { enabled: false, multiplier: 1 } } })
    expect(quotas(off)[0]).toEqual({ layers: [0, 1], limits: [10, 100, 2, none, 1_000, none] })
  })

  it('come with the anchors of a subject that has one', () => {
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

  it('know what takes a slot and what an overrun costs, whatever layers are on', () => {
    const { operations } = compiled({ layers: { all: { enabled: false, multiplier: 1 } } })
    expect([...operations.values()]).toMatchObject([
      { name: 'chat', category: 0, costs: [1, 1], overrun: 'fit', maxOverrun: [5] },
      { name: 'ask', category: 0, costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
      { name: 'see', category: 1, costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
    ])
    const byCategory = { ...policy, concurrency: { label: 'running', categories: ['call', 'look'] } }
    const others = new CompiledSettings(byCategory, initialSettings(byCategory)).operations
    // No layer limits how many looks are in flight.
    expect([...others.values()].map(({ costs }) => costs[1])).toEqual([1, 1, 0])
  })

  it('give the same quotas for the same settings and plan, and others for others', () => {
    const settings = compiled()
    const clock = testClock()
    const of = (subjects: Readonly<Record<string, SubjectSettings>>, plan?: string) =>
      settings.quotasOf(subjects, plan, clock, nobody)
    const user = subjectWith('user', { plan: 'pro' })
    const team = subjectWith('team', { plan: 'pro' })
    const asked = [of({}), of({}, 'pro'), of({ user }), of({ team }), of({ user, team }), of({ user }, 'pro')]
    expect(asked.map(([call]) => call!.limits.slice(0, 6).join(' '))).toEqual([
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

  it('distinguish layers to which a store gives one and the same document', () => {
    const settings = compiled()
    const same = subjectWith('user', { plan: 'pro' })
    const of = (subjects: Readonly<Record<string, SubjectSettings>>) =>
      settings.quotasOf(subjects, undefined, testClock(), nobody)[0]!.limits.slice(0, 6)
    expect(of({ user: same })).toEqual([10, 500, 5, none, 1_000, none])
    expect(of({ team: same })).toEqual([10, 100, 2, none, 5_000, none])
  })

  it('let overrides and plans end, each by itself, and ask for the time only where one may', () => {
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
      return settings.quotasOf({ user }, undefined, asking, nobody)[0]!.limits.slice(0, 3).join(' ')
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

  it('go back to the plan of the request when the stored one has ended', () => {
    const user = subjectWith('user', { plan: 'free', until: { overrides: null, plan: 2_000 } })
    const settings = compiled()
    const at = (now: number) => settings.quotasOf({ user }, 'pro', testClock(now), nobody)[0]!.limits.slice(0, 3)
    expect(at(1_999)).toEqual([0, 100, 2])
    expect(at(2_000)).toEqual([10, 500, 5])
  })
})
