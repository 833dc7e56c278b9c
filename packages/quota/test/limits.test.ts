import { describe, expect, it } from 'vitest'
import { CompiledSettings } from '../src/engine/settings/compiled-settings.ts'
import { createQuota, definePolicy, type Settings, type SubjectSettings } from '../src/index.ts'
import { placedLimits } from '../src/policy/cells.ts'
import { effectiveQuotas, type LimitsOf, type Quotas } from '../src/policy/limits.ts'
import { initialSettings, initialSubjectSettings } from '../src/policy/settings.ts'
import { testClock } from './support.ts'

/** Two own layers and a shared one; limits written in another order than that of a row; slots where there are some. */
const policy = definePolicy({
  limits: {
    month: { by: 'user', limit: 100, every: 'month', timeZone: 'UTC', anchor: 'subject' },
    hour: { by: 'user', limit: 10, per: '1h' },
    looks: { by: 'user', limit: 20, per: '1h', for: 'see' },
    running: { by: 'user', concurrency: 2, for: 'chat' },
    ofTeam: { by: 'team', limit: 1_000, every: 'month', timeZone: 'UTC', anchor: 'subject' },
    ofAll: { shared: 'all', limit: 1_000, per: '1h' },
    allRunning: { shared: 'all', concurrency: 50, for: 'chat' },
  },
  operations: { chat: { overrun: 'fit', maxOverrun: 5 }, ask: {}, see: {} },
  plans: { pro: { month: 500, running: 5, ofTeam: 5_000 }, free: { hour: 0 } },
})
const rules = placedLimits(policy).limits.map(({ rule }) => rule)
const none = Number.POSITIVE_INFINITY

type Members = Partial<Settings>

function settingsWith(members: Members = {}) {
  return { ...initialSettings(policy), ...members }
}

function subjectWith(layer: string, members: Partial<SubjectSettings>): SubjectSettings {
  return { ...initialSubjectSettings(policy, layer), ...members }
}

function quotas(settings: Settings, of: LimitsOf = {}, factorHundredths = 100): Quotas {
  return effectiveQuotas({ policy, settings, factorHundredths }, of)
}

/** Numbers by position, by the names of their limits. */
function named<T>(numbers: readonly T[]): Record<string, T> {
  return Object.fromEntries(rules.map(({ name }, at) => [name, numbers[at]!]))
}

function limits(settings: Settings, of: LimitsOf = {}, factorHundredths = 100) {
  return named(quotas(settings, of, factorHundredths).limits)
}

const BASE = { hour: 10, looks: 20, month: 100, running: 2, ofTeam: 1_000, ofAll: 1_000, allRunning: 50 }

describe('prices above a limit', () => {
  it('a price above a limit is warned about at construction, unless the limit is 0 to block', () => {
    const warned: unknown[] = []
    const warn = (message: unknown) => void warned.push(message)
    const made = (limit: number) =>
      createQuota({
        limits: { hour: { by: 'user', limit, per: '1h' }, day: { by: 'user', limit: 100, per: '1d' } },
        operations: { look: { cost: 5 }, load: { cost: 20 } },
        logger: { warn, error: warn },
      })
    made(20)
    made(0)
    expect(warned).toEqual([])
    made(10)
    expect(warned).toEqual([
      'createQuota(): limits.hour: the effective limit of 10 requests is below the price of load',
    ])
  })
})

describe('compiled limits', () => {
  it('limits are in row order by layer, with slots last', () => {
    expect(rules.map(({ name }) => name)).toEqual(Object.keys(BASE))
    expect(quotas(settingsWith())).toMatchObject({ layers: [0, 1, 2], limits: Object.values(BASE) })
  })

  it('mode and multiplier scale limits over time but not slots', () => {
    const settings = settingsWith({ mode: 'lenient', shared: { all: { enabled: true, multiplier: 0.5 } } })
    expect(limits(settings)).toEqual({ ...BASE, hour: 15, looks: 30, month: 150, ofTeam: 1_500, ofAll: 750 })
    const adaptive = limits(settingsWith({ mode: 'adaptive' }), {}, 75)
    expect(adaptive).toEqual({ ...BASE, hour: 7, looks: 15, month: 75, ofTeam: 750, ofAll: 750 })
  })

  it('a plan’s numbers are scaled like the base, and fall back to the base', () => {
    const ofPro = limits(settingsWith({ mode: 'conservative' }), { plan: 'pro' })
    expect(ofPro).toMatchObject({ hour: 7, month: 375, running: 5, ofTeam: 3_750, ofAll: 750 })
  })

  it('a plan’s numbers replace the custom ones in mode custom', () => {
    const settings = settingsWith({ mode: 'custom', custom: { month: 70, hour: 7, running: 1 } })
    expect(limits(settings)).toEqual({ ...BASE, month: 70, hour: 7, running: 1 })
    expect(limits(settings, { plan: 'pro' })).toMatchObject({ hour: 7, month: 500, running: 5 })
  })

  it('a subject’s numbers come before plans, plans before the base, and a subject’s aren’t scaled', () => {
    const user = subjectWith('user', { limits: { month: 42, hour: null, running: 3 }, plan: 'pro' })
    expect(limits(settingsWith({ mode: 'lenient' }), { subjects: { user } })).toMatchObject({
      hour: 15,
      month: 42,
      running: 3,
    })
    const open = subjectWith('user', { limits: { month: 'unlimited', hour: 0, running: null } })
    expect(limits(settingsWith(), { subjects: { user: open } })).toMatchObject({ hour: 0, month: none, running: 2 })
  })

  it('a subject can’t have numbers of another layer’s limits', () => {
    const team = subjectWith('team', { limits: { running: 1, ofAll: 1 } })
    expect(limits(settingsWith(), { subjects: { team } })).toEqual(BASE)
  })

  it('the stored plan of each layer comes before the request’s plan', () => {
    const user = subjectWith('user', { plan: 'free' })
    expect(limits(settingsWith(), { subjects: { user }, plan: 'pro' })).toEqual({ ...BASE, hour: 0, ofTeam: 5_000 })
    const team = subjectWith('team', { plan: 'free' })
    expect(limits(settingsWith(), { subjects: { team }, plan: 'pro' })).toEqual({ ...BASE, month: 500, running: 5 })
  })

  it('an unknown plan falls back to the base, even if the request names a known plan', () => {
    expect(limits(settingsWith(), { plan: 'gone' })).toEqual(BASE)
    expect(limits(settingsWith(), { plan: 'constructor' })).toEqual(BASE)
    const user = subjectWith('user', { plan: 'gone' })
    expect(limits(settingsWith(), { subjects: { user }, plan: 'pro' })).toEqual({ ...BASE, ofTeam: 5_000 })
  })

  it('plans in settings override the policy’s plans number by number and can be new', () => {
    const plans = { pro: { month: 600 }, max: { looks: 'unlimited' as const } }
    expect(limits(settingsWith({ plans }), { plan: 'pro' })).toEqual({ ...BASE, month: 600, running: 5, ofTeam: 5_000 })
    expect(limits(settingsWith({ plans }), { plan: 'max' })).toEqual({ ...BASE, looks: none })
  })

  it('shadowed limits become unlimited, and are listed with their places', () => {
    const settings = settingsWith({ mode: 'lenient', shadow: { ofAll: true, month: true, running: true, hour: false } })
    expect(limits(settings)).toMatchObject({ hour: 15, month: none, running: none, ofAll: none, allRunning: 50 })
    const { shadowed = [] } = quotas(settings)
    expect(named(shadowed)).toEqual({ month: 150, running: 2, ofAll: 1_500 })
  })

  it('limits of a layer that is switched off are unlimited and not listed as shadowed', () => {
    const off = settingsWith({ shadow: { ofAll: true }, shared: { all: { enabled: false, multiplier: 1 } } })
    expect(quotas(off)).toMatchObject({ layers: [0, 1] })
    expect(quotas(off)).not.toHaveProperty('shadowed')
    expect(limits(off)).toEqual({ ...BASE, ofAll: none, allRunning: none })
  })

  it('limits include the anchor of a subject that has one', () => {
    const user = subjectWith('user', { anchor: { day: 15 } })
    expect(quotas(settingsWith(), { subjects: { user } }).anchors).toEqual([{ day: 15 }, null, null])
    expect(quotas(settingsWith(), { subjects: { team: subjectWith('team', {}) } })).not.toHaveProperty('anchors')
  })
})

describe('compiled settings', () => {
  const nobody = (): void => undefined
  const shownOf = ({ limits: all }: Quotas) => {
    const { hour, month, running, ofTeam } = named(all)
    return [hour, month, running, ofTeam]
  }

  function compiled(members: Members = {}): CompiledSettings {
    return new CompiledSettings(policy, settingsWith(members))
  }

  it('compiled settings list operations with slots and overruns, whichever layers are enabled', () => {
    const { operations } = compiled({ shared: { all: { enabled: false, multiplier: 1 } } })
    const [, , all] = [operations.get('chat'), operations.get('ask'), operations.get('see')].map((each) => each?.set)
    expect(new Set([...operations.values()].map(({ set }) => set)).size).toBe(3)
    expect(placedLimits(policy).schema.sets[all!]!.map((at) => rules[at]!.name)).toEqual([
      ...['hour', 'looks', 'month', 'ofTeam', 'ofAll'],
    ])
    expect([...operations.values()]).toMatchObject([
      { name: 'chat', costs: [1, 1], overrun: 'fit', maxOverrun: [5] },
      { name: 'ask', costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
      { name: 'see', costs: [1, 0], overrun: 'refuse', maxOverrun: [0] },
    ])
  })

  it('equal subjects and plans have equal quotas, compiled once', () => {
    const settings = compiled()
    const clock = testClock()
    const of = (subjects: Readonly<Record<string, SubjectSettings>>, plan?: string) =>
      settings.quotasOf(subjects, { plan }, clock, nobody)
    const user = subjectWith('user', { plan: 'pro' })
    const team = subjectWith('team', { plan: 'pro' })
    const all = () => [of({}), of({}, 'pro'), of({ user }), of({ team }), of({ user, team }), of({ user }, 'pro')]
    const asked = all()
    expect(asked.map((each) => shownOf(each).join(' '))).toEqual([
      '10 100 2 1000',
      '10 500 5 5000',
      '10 500 5 1000',
      '10 100 2 5000',
      '10 500 5 5000',
      '10 500 5 5000',
    ])
    for (const [index, each] of all().entries()) expect(each).toBe(asked[index])
    expect(of({}, 'gone-1')).toBe(of({}, 'gone-2'))
    expect(of({ user }, 'gone')).toBe(of({ user }))
  })

  it('layers whose settings are one document object have separate quotas', () => {
    const settings = compiled()
    const same = subjectWith('user', { plan: 'pro' })
    const of = (subjects: Readonly<Record<string, SubjectSettings>>) =>
      shownOf(settings.quotasOf(subjects, {}, testClock(), nobody))
    expect(of({ user: same })).toEqual([10, 500, 5, 1_000])
    expect(of({ team: same })).toEqual([10, 100, 2, 5_000])
  })

  it('numbers and plans expire separately, and the clock is read only where one can expire', () => {
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
      limits: { month: 42, hour: null, running: null },
      plan: 'pro',
      until: { limits: 2_000, plan: 3_000, blocked: null },
    })
    const limitsAt = (at: number) => {
      clock.at = at
      return shownOf(settings.quotasOf({ user }, {}, asking, nobody))
        .slice(0, 3)
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
    settings.quotasOf({ user: subjectWith('user', { plan: 'pro' }) }, { plan: 'pro' }, asking, nobody)
    expect(asked).toBe(6)
  })

  it('an expired stored plan gives way to the request’s plan', () => {
    const user = subjectWith('user', { plan: 'free', until: { limits: null, plan: 2_000, blocked: null } })
    const settings = compiled()
    const at = (now: number) =>
      shownOf(settings.quotasOf({ user }, { plan: 'pro' }, testClock(now), nobody)).slice(0, 3)
    expect(at(1_999)).toEqual([0, 100, 2])
    expect(at(2_000)).toEqual([10, 500, 5])
  })
})

it('of a limit that was lowered below what is used, nothing is left', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 10, per: '1h' } }, clock: testClock() })
  quota.consumeSync({ subject: 'u', cost: 8 })
  await quota.settings.update({ limits: { api: 3 } })
  expect(quota.statusSync('u').limits.api).toMatchObject({ limit: 3, used: 8, remaining: 0 })
})
