import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createQuota, memoryStore, parsePolicy } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fragmentOf, LONGEST_FRAGMENT, readFragment } from '../.vitepress/theme/playground/address.ts'
import { codeOf } from '../.vitepress/theme/playground/code-of.ts'
import { definitionOf, faultsOf } from '../.vitepress/theme/playground/definition-of.ts'
import { firstScenario, PRESETS } from '../.vitepress/theme/playground/presets.ts'
import { copyOf, MOST, type Scenario, SUBJECTS } from '../.vitepress/theme/playground/scenario.ts'
import { ALIVE_MS, BEGINNING, COLUMNS, Simulation } from '../.vitepress/theme/playground/simulation.ts'
import { root } from './markdown.ts'
import type { SnippetRun } from './run-snippets.ts'

const HOUR_MS = 3_600_000
const presets = Object.entries(PRESETS)

/** As much as an address can hold. */
function largest(): Scenario {
  const long = 'x'.repeat(32)
  const some = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
  const name = (at: number): string => `${at}${long.slice(1)}`
  return {
    limits: some(MOST.limits, (at) => ({
      ...{ name: name(at), whose: 'everybody', kind: 'calendar', amount: long, unit: 'requests' },
      ...{ per: long, burst: long, every: 'month', for: long },
    })),
    operations: some(MOST.operations, (at) => ({
      ...{ name: name(at), category: 'write', tokens: long, usd: long, seconds: long },
    })),
    streams: SUBJECTS.map((subject) => ({ subject, operation: 3, perHour: 600 })),
    speedMs: 3_600_000,
    seed: MOST.seed,
  }
}

function played(scenario: Scenario): Simulation {
  const simulation = new Simulation(firstScenario())
  simulation.calendar = luxonCalendar()
  simulation.change(scenario)
  simulation.restart()
  return simulation
}

/** A scenario in which requests come by hand alone. */
function byHand(name: string): Scenario {
  const scenario = copyOf(PRESETS[name] as Scenario)
  for (const stream of scenario.streams) stream.perHour = 0
  return scenario
}

function encoded(value: unknown): string {
  return `v1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
}

describe('the playground’s address', () => {
  it.each([...presets, ['the largest', largest()] as const])('an address restores its scenario: %s', (_, scenario) => {
    const fragment = fragmentOf(scenario)
    expect(fragment).toMatch(/^v1\.[\w-]+$/)
    expect(fragment.length).toBeLessThan(LONGEST_FRAGMENT)
    expect(readFragment(fragment)).toEqual({ scenario })
  })

  const scenario = firstScenario()
  const [limit] = scenario.limits
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
    ['no limits', encoded({ ...scenario, limits: [] }), 'Not playable'],
    ['too many limits', encoded({ ...scenario, limits: Array(MOST.limits + 1).fill(limit) }), 'Not playable'],
    ['a limit that is a number', encoded({ ...scenario, limits: [{ ...limit, amount: 5 }] }), 'Not playable'],
    ['a long name', encoded({ ...scenario, limits: [{ ...limit, name: 'x'.repeat(33) }] }), 'Not playable'],
    ['another kind', encoded({ ...scenario, limits: [{ ...limit, kind: 'sliding' }] }), 'Not playable'],
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

describe('the playground’s fields', () => {
  it('the engine’s faults stand at their fields', () => {
    const scenario = copyOf(PRESETS['A language model: requests, tokens, money'] as Scenario)
    const [first, second, third] = scenario.limits
    Object.assign(second ?? {}, { per: '15 minutes' })
    expect([...faultsOf(scenario).keys()]).toEqual(['limits.1.per'])
    Object.assign(second ?? {}, { per: '15m' })
    Object.assign(first ?? {}, { amount: 'abc' })
    Object.assign(third ?? {}, { amount: '1.1234567' })
    Object.assign(scenario.operations[0] ?? {}, { tokens: '-1' })
    const faults = faultsOf(scenario)
    expect([...faults.keys()].sort()).toEqual(['limits.0.amount', 'limits.2.amount', 'operations.0.tokens'])
    expect(faults.get('limits.0.amount')).toContain('got "abc"')
  })

  it.each([
    ['two limits of one name', { limits: ['a', 'a'] }, 'limits.1.name'],
    ['a name with a tag', { limits: ['<b>'] }, 'limits.0.name'],
    ['no name', { limits: [''] }, 'limits.0.name'],
    ['an inherited name', { limits: ['__proto__'] }, 'limits.0.name'],
    ['time without end', { seconds: '1e9' }, 'operations.0.seconds'],
    ['a limit for an operation that is gone', { for: 'gone' }, 'limits.0.for'],
  ])('%s is named at the field', (_, wrong: { limits?: string[]; seconds?: string; for?: string }, field) => {
    const scenario = copyOf(PRESETS['Two at once'] as Scenario)
    const [limit] = scenario.limits
    const names = wrong.limits ?? scenario.limits.map(({ name }) => name)
    scenario.limits = names.map((name) => ({ ...(limit as Scenario['limits'][number]), name }))
    Object.assign(scenario.limits[0] ?? {}, wrong.for === undefined ? {} : { for: wrong.for })
    Object.assign(scenario.operations[0] ?? {}, wrong.seconds === undefined ? {} : { seconds: wrong.seconds })
    expect([...faultsOf(scenario).keys()]).toContain(field)
  })

  it('1,000 and 1_000 are numbers', () => {
    const scenario = firstScenario()
    for (const amount of ['1,000', '1_000', ' 1000 ']) {
      Object.assign(scenario.limits[0] ?? {}, { amount })
      expect(definitionOf(scenario).limits.api?.limit).toBe(1_000)
    }
  })
})

describe('the playground’s simulation', () => {
  it.each(presets)('the preset "%s" has no fault, and something was refused when the page opens', (_, scenario) => {
    expect([...faultsOf(scenario)]).toEqual([])
    const simulation = played(scenario)
    simulation.advance(ALIVE_MS)
    const { admitted, refused, refusal } = simulation.look('ann')
    expect(admitted).toBeGreaterThan(10)
    expect(refused).toBeGreaterThan(0)
    expect(refusal?.refusedBy.name).toBeDefined()
  })

  it('the simulation decides as the engine does at the simulated time', () => {
    const scenario = byHand('A user, a team and everybody')
    const simulation = played(scenario)
    const clock = { at: BEGINNING, now: () => clock.at }
    const quota = createQuota({ policy: parsePolicy(definitionOf(scenario)), store: memoryStore({ clock }), clock })
    const subject = { user: 'ann', team: 'red' }
    for (let count = 0; count < 200; count++) {
      const minutes = count % 50 === 49 ? 61 : 0
      simulation.advance(minutes * 60_000)
      clock.at += minutes * 60_000
      expect(simulation.ask('ann', 0)).toEqual(quota.consumeSync({ subject } as never))
    }
    expect(simulation.look('ann').limits).toEqual(quota.statusSync(subject as never).limits)
    expect(simulation.look('ann').refused).toBeGreaterThan(0)
  })

  it('work holds its slot as long as it takes', () => {
    const simulation = played(byHand('Two at once'))
    const ask = (): boolean => simulation.ask('ann', 0).allowed
    expect([ask(), ask(), ask()]).toEqual([true, true, false])
    simulation.advance(299_999)
    expect(ask()).toBe(false)
    simulation.advance(1)
    expect(simulation.look('ann').limits.atOnce?.used).toBe(0)
    expect([ask(), ask(), ask()]).toEqual([true, true, false])
    // Committed: what was admitted stays charged.
    expect(simulation.look('ann').limits.perHour?.used).toBe(4)
  })

  it('a calendar month ends with the month', () => {
    const simulation = played(byHand('A monthly quota'))
    simulation.ask('ann', 0)
    expect(simulation.look('ann').limits.monthly).toMatchObject({ used: 1, resetAt: Date.UTC(2026, 8, 1) })
    simulation.advance(Date.UTC(2026, 8, 1) - BEGINNING)
    expect(simulation.look('ann').limits.monthly?.used).toBe(0)
  })

  it('the simulation empties and refills a bucket and shows both on the time line', () => {
    const scenario = byHand('Bursts: a token bucket')
    const simulation = played(scenario)
    expect(simulation.look('ann').levels).toEqual([{ index: 0, left: 1 }])
    for (let count = 0; count < 10; count++) expect(simulation.ask('ann', 0).allowed).toBe(true)
    expect(simulation.ask('ann', 0).allowed).toBe(false)
    expect(simulation.look('ann').levels).toEqual([{ index: 0, left: 0 }])
    simulation.advance(300_000)
    // 60 per hour: one a minute.
    expect(simulation.look('ann').levels.at(-1)?.left).toBe(0.5)
    simulation.advance(24 * HOUR_MS)
    expect(simulation.look('ann').levels.at(-1)?.left).toBe(1)
    expect(simulation.look('bob').levels).toHaveLength(1)
  })

  it('each stream sends as many requests as its slider says, in time steps of any size', () => {
    const whole = played(firstScenario())
    const cut = played(firstScenario())
    whole.advance(24 * HOUR_MS)
    for (let passed = 0; passed < 24 * HOUR_MS; passed += 60_001) cut.advance(Math.min(60_001, 24 * HOUR_MS - passed))
    for (const view of [whole.look('bob'), cut.look('bob')]) {
      expect(view.now).toBe(BEGINNING + 24 * HOUR_MS)
      expect(Math.abs(view.admitted + view.refused - 24 * (120 + 45))).toBeLessThan(3)
    }
    expect(Math.abs(whole.look('bob').refused - cut.look('bob').refused)).toBeLessThan(5)
    expect(whole.look('bob').columns.length).toBeLessThanOrEqual(COLUMNS)
  })

  it('counters are kept when a limit changes, until time begins again', () => {
    const scenario = byHand('One limit')
    const simulation = played(scenario)
    simulation.ask('ann', 0)
    const changed = copyOf(scenario)
    Object.assign(changed.limits[0] ?? {}, { amount: '1' })
    simulation.change(changed)
    expect(simulation.look('ann').limits.api).toMatchObject({ used: 1, limit: 1 })
    expect(simulation.ask('ann', 0).allowed).toBe(false)
    simulation.restart()
    expect(simulation.look('ann')).toMatchObject({ now: BEGINNING, admitted: 0, refused: 0, refusal: undefined })
    expect(simulation.ask('ann', 0).allowed).toBe(true)
  })

  it('a seed gives one random history, also after a restart, and another seed another', () => {
    const history = (simulation: Simulation): unknown => {
      simulation.advance(3 * HOUR_MS)
      const { admitted, refused, columns } = simulation.look('bob')
      return { admitted, refused, columns: structuredClone(columns) }
    }
    const first = played({ ...firstScenario(), seed: 1 })
    const once = history(first)
    first.restart()
    expect(history(first)).toEqual(once)
    expect(history(played({ ...firstScenario(), seed: 1 }))).toEqual(once)
    expect(history(played({ ...firstScenario(), seed: 2 }))).not.toEqual(once)
  })
})

it('the code of every preset runs as it is, and is at most 72 columns wide', async () => {
  const artifacts = join(root, 'docs/.artifacts')
  mkdirSync(artifacts, { recursive: true })
  const folder = mkdtempSync(join(artifacts, 'playground-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = presets.map(([, scenario], at) => {
    const code = codeOf(scenario)
    expect(code.split('\n').filter((line) => line.length > 72)).toEqual([])
    const file = join(folder, `preset-${at}.ts`)
    writeFileSync(file, code)
    return file
  })
  const args = ['--conditions=@scoregw/source', '--import=tsx', join(import.meta.dirname, 'run-snippets.ts'), ...files]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 120_000 })
  const runs = JSON.parse(stdout) as SnippetRun[]
  expect(runs).toEqual(presets.map(() => ({ logged: ['true'] })))
})
