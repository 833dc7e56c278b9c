import { createQuota, definePolicy, money, type Policy, parsePolicy } from '@scoregw/quota'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Finding } from '../src/check/finding.ts'
import { lint } from '../src/check/lint.ts'
import { runCli } from './run-cli.ts'
import { fileOf, removeFiles } from './temporary.ts'

afterAll(removeFiles)

async function findings(policy: unknown): Promise<{ code: number; ok: boolean; findings: Finding[] }> {
  const { code, out } = await runCli(['check', fileOf(policy), '--json'])
  return { code, ...(JSON.parse(out) as { ok: boolean; findings: Finding[] }) }
}

/** A valid policy: limits of each user and of all, of reads and writes. */
const GOOD = {
  limits: {
    'user-read': { by: 'user', limit: 120, per: '1h', for: 'read' },
    'user-write': { by: 'user', limit: 60, per: '1h', for: 'write' },
    'user-day': { by: 'user', limit: 1_500, per: '1d' },
    service: { shared: 'service', limit: 3_000, per: '1h' },
  },
  operations: { list: { category: 'read' }, save: { category: 'write' } },
}

/** Limits of one user. */
function policyOf(limits: Readonly<Record<string, readonly [lengthMs: number, limit: number]>>): object {
  const named = Object.entries(limits).map(([name, [ms, limit]]) => [name, { by: 'user', limit, per: `${ms}ms` }])
  return { limits: Object.fromEntries(named), operations: { go: {} } }
}

describe('quota check', () => {
  it('check reports nothing for a valid policy', async () => {
    const { code, out, err } = await runCli(['check', fileOf(GOOD)])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/: fine \(0 faults, 0 warnings, 0 notes\)\n$/)
  })

  it('check reports every fault with its path and the allowed values', async () => {
    const limits = {
      ...GOOD.limits,
      a: { by: 'user', limit: 5, windowMs: 5 },
      'b c': { by: 'user', limit: 1, per: 60 },
    }
    const policy = { ...GOOD, limits, plan: {} }
    const { code, ok, findings: found } = await findings(policy)
    expect([code, ok]).toEqual([1, false])
    expect(found.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['limits.a.per', 'limits.a.windowMs', 'limits.b c', 'plan']),
    )
    for (const { message } of found) expect(message).toMatch(/expected|missing|unknown|did you mean|not a/)
    const { out } = await runCli(['check', fileOf(policy)])
    expect(out).toContain('fault limits.a.windowMs: unknown key')
  })

  it('check accepts a single limit, money, and modules', async () => {
    const one = { limits: { api: { by: 'user', limit: 100, per: '15m' } } }
    expect(await runCli(['check', fileOf(one)])).toMatchObject({ code: 0 })
    const budget = { limits: { budget: { by: 'team', limit: { USD: '100.00' }, of: 'usd', per: '30d' } } }
    const spent = { ...budget, operations: { chat: { cost: { usd: { USD: '0.009' } } } } }
    expect(await runCli(['check', fileOf(spent)])).toMatchObject({ code: 0 })
    const read = `export const policy = ${JSON.stringify(parsePolicy(one))}`
    for (const text of [
      `export const policy = ${JSON.stringify(one)}`,
      `export default ${JSON.stringify(one)}`,
      read,
    ]) {
      expect(await runCli(['check', fileOf(text, 'mjs')])).toMatchObject({ code: 0 })
    }
  })

  it('check says what to write instead of a limit without a name', async () => {
    const { code, findings: found } = await findings({ limit: 100, per: '1h' })
    expect([code, found.length]).toEqual([1, 1])
    expect(found[0]?.message).toContain('{"limits":{"api":{"by":"user","limit":100,"per":"1h"}}}')
  })

  it.each([
    ['{ "windows": [}', 'json', /is not JSON: Unexpected token/],
    ['{ "windows": [] "categories": 1}', 'json', /is not JSON: .*, line 1, column 17/],
    ['', 'json', /is not JSON: Unexpected end/],
    ['export const other = 1', 'mjs', /exports no policy/],
    ['export default {', 'mjs', /cannot load/],
  ])('check reports the fault of %j in one line', async (text, extension, message) => {
    const { code, out, err } = await runCli(['check', fileOf(text, extension)])
    expect([code, out]).toEqual([2, ''])
    expect(err.split('\n')[0]).toMatch(message)
    expect(err).not.toMatch(/\n\s+at /)
  })

  it('check reports a missing file', async () => {
    const { code, err } = await runCli(['check', '/nowhere/policy.json'])
    expect([code, err]).toEqual([2, 'quota-cli: cannot read /nowhere/policy.json: there is no such file\n'])
  })

  it('check reports a price above a limit, also in stricter modes', async () => {
    const policy = policyOf({ hourly: [3_600_000, 10] })
    const dear = { ...policy, operations: { go: { cost: 11 }, near: { cost: 9 } } }
    const { code, findings: found } = await findings(dear)
    expect(code).toBe(0)
    expect(found).toMatchObject([{ level: 'warning', code: 'never_admitted', path: 'limits.hourly' }])
    expect((await runCli(['check', fileOf(dear), '--strict'])).code).toBe(1)
    const near = { ...policy, operations: { near: { cost: 9 } } }
    expect((await findings(near)).findings).toMatchObject([{ level: 'note', message: /^in mode conservative/ }])
  })

  it('check reports plans equal to the base, shares above the whole, and operations without a number', async () => {
    const policy = {
      limits: {
        reads: { by: 'user', limit: 9, per: '1h', for: 'read' },
        'all-reads': { shared: 'service', limit: 90, per: '1h', for: 'read' },
        writes: { by: 'user', limit: 9, per: '1h', for: 'save' },
        'all-writes': { shared: 'service', limit: 9, per: '1h', for: 'save' },
        looks: { by: 'user', limit: 'unlimited', per: '1h', for: 'look' },
      },
      operations: {
        list: { category: 'read' },
        save: {},
        look: {},
      },
      plans: { pro: { reads: 9, writes: 8 } },
    }
    const reported = (await findings(policy)).findings.map(({ code, path }) => `${code} ${path}`)
    expect(reported).toEqual([
      'plan_like_base plans.pro.reads',
      'above_shared limits.writes',
      'unlimited operations.look',
    ])
  })

  it('check shows money in its currency', async () => {
    const usd = money('USD')
    const policy = definePolicy({
      limits: {
        hourly: { by: 'user', limit: usd(1.5), of: usd, per: '1h' },
        daily: { by: 'user', limit: usd(40), of: usd, per: '1d' },
      },
      operations: { chat: { cost: { usd: usd(0.01) } } },
    })
    const [found] = await lint(policy)
    expect(found).toMatchObject({
      code: 'never_binds',
      message: expect.stringContaining('40.00 USD can never be reached'),
    })
  })

  it('check prints no escape sequences from a file', async () => {
    const { out } = await runCli(['check', fileOf({ ...GOOD, 'a\u001b[31m\u202eb': 1 })])
    for (const character of ['\u001b', '\u202e']) expect(out).not.toContain(character)
  })
})

describe('limits that never bind', () => {
  it.each([
    ['a day of hours', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_500] }, 'never_binds limits.1d'],
    ['a day of hours, nearly', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_499] }, 'hardly_binds limits.1d'],
    ['a day that counts', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_399] }, undefined],
    ['a shorter one above twice', { '1h': [3_600_000, 100], '1d': [86_400_000, 50] }, 'never_binds limits.1h'],
    ['a shorter one above', { '1h': [3_600_000, 99], '1d': [86_400_000, 50] }, 'hardly_binds limits.1h'],
    ['the same', { a: [3_600_000, 50], b: [3_600_000, 50] }, 'hardly_binds limits.b'],
  ] as const)('limits that never bind, %s', async (_, limits, expected) => {
    const found = await lint(parsePolicy(policyOf(limits)))
    expect(found.map(({ code, path }) => `${code} ${path}`)).toEqual(expected === undefined ? [] : [expected])
  })

  it.each([
    ['which counts all that the other counts', { for: ['go', 'run'] }, { for: 'go' }, ['never_binds limits.daily']],
    ['which counts only a part', { for: 'go' }, { for: ['go', 'run'] }, []],
    ['of another unit', { of: 'tokens' }, {}, []],
    ['of another layer', { by: 'team' }, {}, []],
    ['in shadow', { shadow: true }, {}, []],
  ])('a limit of an hour %s', async (_, hourly, daily, expected) => {
    const policy = parsePolicy({
      limits: {
        hourly: { by: 'user', limit: 10, per: '1h', ...hourly },
        daily: { by: 'user', limit: 250, per: '1d', ...daily },
        whole: { by: 'user', limit: 2_000, per: '30d' },
      },
      operations: { go: { cost: { requests: 1, ...('of' in hourly && { tokens: 1 }) } }, run: {} },
    })
    const found = (await lint(policy)).filter(({ path }) => path === 'limits.daily')
    expect(found.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })

  it('a limit that check calls unreachable never refuses any random traffic', async () => {
    const window = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 30 }))
    const traffic = fc.array(fc.tuple(fc.integer({ min: 0, max: 12_000 }), fc.integer({ min: 1, max: 4 })), {
      minLength: 100,
      maxLength: 300,
    })
    let idle = 0
    await fc.assert(
      fc.asyncProperty(fc.array(window, { minLength: 2, maxLength: 3 }), traffic, async (windows, requests) => {
        const limits = Object.fromEntries(windows.map(([s, limit], at) => [`w${at}`, [s * 1_000, limit] as const]))
        const policy: Policy = parsePolicy(policyOf(limits))
        const never = (await lint(policy)).filter(({ code }) => code === 'never_binds').map(({ path }) => path)
        idle += never.length
        const clock = { at: 1_000_000, now: () => clock.at }
        const quota = createQuota({ policy, clock, logger: false })
        for (const [later, cost] of requests) {
          clock.at += later
          const decision = quota.consumeSync({ subject: 'u', operation: 'go', cost })
          const refusing = decision.allowed ? [] : decision.refusals.filter(({ retryable }) => retryable)
          const others = refusing.map(({ name }) => `limits.${name}`)
          // An idle limit may refuse beside another, never alone.
          if (others.length > 0 && !decision.allowed && decision.retryable) {
            expect(others.some((path) => !never.includes(path))).toBe(true)
          }
        }
      }),
      { numRuns: process.env.QUOTA_TEST_DEEP === '1' ? 1_000 : 60 },
    )
    expect(idle).toBeGreaterThan(0)
  })
})
