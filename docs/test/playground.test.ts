import { createQuota, memoryStore } from '@scoregw/quota'
import { describe, expect, it } from 'vitest'
import { fragmentOf, LONGEST_FRAGMENT, readFragment } from '../.vitepress/theme/playground/address.ts'
import { codeOf } from '../.vitepress/theme/playground/code-of.ts'
import { policyOf, subjectOf } from '../.vitepress/theme/playground/policy-of.ts'
import { defaultScenario, faultOf, MOST, type Scenario, SUBJECTS } from '../.vitepress/theme/playground/scenario.ts'
import { ALIVE_MS, BEGINNING, COLUMNS, Simulation } from '../.vitepress/theme/playground/simulation.ts'

const HOUR_MS = 3_600_000

/** As much as an address can hold. */
function largest(): Scenario {
  const limits = { read: [MOST.tokens, MOST.tokens, MOST.tokens], write: [MOST.tokens, MOST.tokens, MOST.tokens] }
  return {
    windows: ['15m', '5h', '7d'],
    units: ['requests', 'cents', 'tokens'],
    bursts: [0.1, 0.2, 1],
    user: limits,
    team: limits,
    site: limits,
    operations: ['a', 'b', 'c', 'd'].map((name) => ({
      name: name.repeat(32),
      category: 'write',
      cost: MOST.cost,
      cents: MOST.cost,
    })),
    streams: SUBJECTS.map((subject) => ({ subject, operation: 3, perHour: 600 })),
    speedMs: 3_600_000,
    seed: MOST.seed,
  }
}

function encoded(value: unknown): string {
  return `v1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
}

describe('the playground’s address', () => {
  it.each([defaultScenario(), largest(), { ...defaultScenario(), site: null }, { ...defaultScenario(), team: null }])(
    'an address restores its scenario',
    (scenario) => {
      const fragment = fragmentOf(scenario)
      expect(fragment).toMatch(/^v1\.[\w-]+$/)
      expect(fragment.length).toBeLessThan(LONGEST_FRAGMENT / 2)
      expect(readFragment(fragment)).toEqual({ scenario })
    },
  )

  const scenario = defaultScenario()
  it.each([
    ['nothing', '', 'no playground'],
    ['another anchor', 'pitfalls', 'no playground'],
    ['another version', 'v2.e30', 'another version'],
    ['half of it', fragmentOf(scenario).slice(0, 99), 'cut off'],
    ['what is no base64', 'v1.%%%', 'cut off'],
    ['what is no UTF-8', 'v1._____w', 'cut off'],
    ['too much', `v1.${'A'.repeat(LONGEST_FRAGMENT)}`, 'longer than any'],
    ['null', encoded(null), 'Not playable'],
    ['a member more', encoded({ ...scenario, more: 1 }), 'Not playable'],
    ['a negative limit', encoded({ ...scenario, user: { read: [-1, 1, 1], write: [1, 1, 1] } }), 'Not playable'],
    ['half a token', encoded({ ...scenario, user: { read: [0.5, 1, 1], write: [1, 1, 1] } }), 'Not playable'],
    ['a window twice', encoded({ ...scenario, windows: ['1h', '1h', '1d'] }), 'same length'],
    ['too few limits', encoded({ ...scenario, windows: ['1h', '1d'] }), 'one limit for each window'],
    [
      'a name with a tag',
      encoded({ ...scenario, operations: [{ name: '<b>', category: 'read', cost: 1 }] }),
      'a name is',
    ],
    [
      'an operation named like another category',
      encoded({ ...scenario, operations: [{ name: 'read', category: 'write', cost: 1 }] }),
      'named like a category',
    ],
    [
      'an operation named __proto__',
      encoded({ ...scenario, operations: [{ name: '__proto__', category: 'read', cost: 1 }] }),
      'a name is',
    ],
    [
      'a stream of nothing',
      encoded({ ...scenario, streams: [{ subject: 'ann', operation: 2, perHour: 1 }] }),
      'that is there',
    ],
    [
      'a rate that no slider has',
      encoded({ ...scenario, streams: [{ subject: 'ann', operation: 0, perHour: 1e9 }] }),
      'Not playable',
    ],
    ['own members of every object', encoded(JSON.parse('{"__proto__":{"x":1},"constructor":1}')), 'Not playable'],
  ])('an address of %s is rejected with a clear message', (_what, fragment, words) => {
    expect(readFragment(fragment)).toEqual({ fault: expect.stringContaining(words) as string })
  })
})

describe('the playground’s simulation', () => {
  it('the simulation empties and refills a bucket and shows both on the time line', () => {
    const scenario: Scenario = { ...defaultScenario(), windows: ['1m', '5h', '1d'], bursts: [0.5, 0, 0] }
    scenario.streams = [{ subject: 'ann', operation: 1, perHour: 0 }]
    const simulation = new Simulation(scenario)
    expect(simulation.look('ann').levels).toEqual([{ index: 0, left: 1 }])
    expect([1, 2, 3].map(() => simulation.ask('ann', 1).allowed)).toEqual([true, true, false])
    const lefts: number[] = []
    for (let passed = 0; passed < 8; passed++) {
      lefts.push(simulation.look('ann').levels.at(-1)?.left ?? -1)
      simulation.advance(5_000)
    }
    // 60 a minute come back, at most 30 together.
    expect(lefts.map((left) => Math.round(left * 30))).toEqual([0, 5, 10, 15, 20, 25, 30, 30])
    expect(simulation.look('ann').levels).toHaveLength(9)
    expect(simulation.look('bob').levels).toHaveLength(1)
    simulation.advance(3_600_000)
    expect(simulation.look('bob').levels.length).toBeLessThanOrEqual(COLUMNS)
    simulation.change({ ...scenario, bursts: [0, 0, 0] })
    expect(simulation.look('ann').levels).toEqual([])
  })

  it('the simulation decides as the engine does at the simulated time', () => {
    const simulation = new Simulation({ ...defaultScenario(), streams: [{ subject: 'ann', operation: 1, perHour: 0 }] })
    const subject = subjectOf(defaultScenario(), 'ann')
    const clock = { at: BEGINNING, now: () => clock.at }
    const quota = createQuota({ policy: policyOf(defaultScenario()), store: memoryStore({ clock }), clock })
    for (const minutes of [0, 1, 5, 0, 2, 30, 24, 1, 600, 0, 0, 0, 0]) {
      simulation.advance(minutes * 60_000)
      clock.at += minutes * 60_000
      expect(simulation.ask('ann', 1)).toEqual(quota.consumeSync({ subject, operation: 'upload' }))
    }
    expect(simulation.look('ann').limits).toEqual(quota.statusSync(subject).limits)
    expect(simulation.look('ann').refusal?.refusedBy.name).toBe('user-write-1h')
  })

  it('each stream sends as many requests as its slider says, in time steps of any size', () => {
    const whole = new Simulation(defaultScenario())
    const cut = new Simulation(defaultScenario())
    whole.advance(24 * HOUR_MS)
    for (let passed = 0; passed < 24 * HOUR_MS; passed += 60_001) cut.advance(Math.min(60_001, 24 * HOUR_MS - passed))
    for (const view of [whole.look('bob'), cut.look('bob')]) {
      expect(view.now).toBe(BEGINNING + 24 * HOUR_MS)
      expect(Math.abs(view.admitted + view.refused - 24 * (10 + 45))).toBeLessThan(3)
    }
    expect(Math.abs(whole.look('bob').refused - cut.look('bob').refused)).toBeLessThan(5)
    expect(whole.look('bob').columns.length).toBeLessThanOrEqual(COLUMNS)
  })

  it('counters are kept when a limit or a price changes', () => {
    const scenario = defaultScenario()
    const simulation = new Simulation(scenario)
    simulation.ask('ann', 1)
    simulation.change({ ...scenario, user: { ...scenario.user, write: [20, 200, 600] } })
    expect(simulation.look('ann').limits['user-write-1h']).toMatchObject({ used: 15, limit: 20 })
    expect(simulation.ask('ann', 1).allowed).toBe(false)
    simulation.restart()
    expect(simulation.look('ann')).toMatchObject({ now: BEGINNING, admitted: 0, refused: 0, refusal: undefined })
    expect(simulation.ask('ann', 1).allowed).toBe(true)
  })

  it.each(['tokens', 'requests', 'cents'] as const)('the simulation charges %s where a window counts them', (unit) => {
    const operations = [{ name: 'upload', category: 'write' as const, cost: 4, cents: 7 }]
    const streams = [{ subject: 'ann', operation: 0, perHour: 0 }]
    const simulation = new Simulation({
      ...defaultScenario(),
      units: ['tokens', unit, 'requests'],
      operations,
      streams,
    })
    const charged = { tokens: 4, requests: 1, cents: 7 }[unit]
    // Money is counted in millionths of a dollar.
    const counted = unit === 'cents' ? 10_000 : 1
    const most = Math.floor(Math.min(60 / 4, 200 / charged))
    for (let count = 1; count <= most; count++) expect(simulation.ask('ann', 0).allowed).toBe(true)
    const { limits } = simulation.look('ann')
    const used = ['1h', '5h', '1d'].map((per) => limits[`user-write-${per}`]?.used)
    expect(used).toEqual([most * 4, most * charged * counted, most])
    expect(simulation.ask('ann', 0).allowed).toBe(false)
  })

  it('the default scenario has a refusal when the page opens', () => {
    const simulation = new Simulation(defaultScenario())
    simulation.advance(ALIVE_MS)
    expect(simulation.look('ann')).toMatchObject({
      asker: 'ann',
      refusal: { refusedBy: { name: 'user-write-1h' } },
    })
    expect(Object.keys(simulation.look('ann').limits)).toContain('team-write-1h')
  })

  it('a seed gives one random history, also after a restart, and another seed another', () => {
    const played = (simulation: Simulation): unknown => {
      simulation.advance(3 * HOUR_MS)
      const { admitted, refused, columns } = simulation.look('bob')
      return { admitted, refused, columns: structuredClone(columns) }
    }
    const first = new Simulation({ ...defaultScenario(), seed: 1 })
    const history = played(first)
    first.restart()
    expect(played(first)).toEqual(history)
    expect(played(new Simulation({ ...defaultScenario(), seed: 1 }))).toEqual(history)
    expect(played(new Simulation({ ...defaultScenario(), seed: 2 }))).not.toEqual(history)
  })

  it('an address without teams and units can still be read', () => {
    const { team: _, seed: _seed, units: _units, bursts: _bursts, operations, ...before } = defaultScenario()
    const former = operations.map(({ cents: _cents, ...each }) => each)
    const units = ['tokens', 'tokens', 'tokens']
    expect(readFragment(encoded({ ...before, operations: former }))).toEqual({
      scenario: { ...before, operations, units, bursts: [0, 0, 0], team: null, seed: 0 },
    })
  })

  it('the simulation plays the sliders’ maximum', () => {
    const simulation = new Simulation({ ...largest(), seed: 0 })
    simulation.advance(4 * HOUR_MS)
    const { admitted, refused } = simulation.look('ann')
    expect(Math.abs(admitted + refused - 4 * 600 * 4)).toBeLessThan(10)
  })
})

it('the playground’s code is at most 72 columns wide', () => {
  const lines = [defaultScenario(), largest()].flatMap((scenario) => codeOf(scenario).split('\n'))
  expect(lines.filter((line) => line.length > 72)).toEqual([])
})

it('a scenario that can’t be played gets a clear message', () => {
  const scenario = defaultScenario()
  expect(faultOf(scenario)).toBeUndefined()
  const operations = [{ name: 'search', category: 'read' as const, cost: Number.NaN, cents: 0 }]
  expect(faultOf({ ...scenario, operations })).toBe('a price is a whole number')
})
