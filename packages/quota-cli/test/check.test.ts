import { createQuota, defaultPolicy, type Policy } from '@scoregw/quota'
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

/** One category, one own layer, these windows and limits. */
function policyOf(limits: Readonly<Record<string, readonly [lengthMs: number, limit: number]>>): Policy {
  const named = Object.entries(limits)
  return {
    windows: named.map(([label, [lengthMs]]) => ({ label, lengthMs })),
    categories: ['call'],
    layers: [{ name: 'user', scope: 'User', shared: false }],
    operations: { go: { category: 'call', cost: 1 } },
    base: { user: { call: Object.fromEntries(named.map(([label, [, limit]]) => [label, limit])) } },
  }
}

describe('quota check', () => {
  it('check reports nothing for a valid policy', async () => {
    const { code, out, err } = await runCli(['check', fileOf(defaultPolicy())])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/: fine \(0 faults, 0 warnings, 0 notes\)\n$/)
  })

  it('check reports every fault with its path and the allowed values', async () => {
    const policy = { ...defaultPolicy(), windows: [{ label: '1h', windowMs: 5 }], categories: ['read', 'wr ite'] }
    const { code, ok, findings: found } = await findings(policy)
    expect([code, ok]).toEqual([1, false])
    expect(found.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['windows.0.per', 'windows.0.windowMs', 'categories.1']),
    )
    for (const { message } of found) expect(message).toMatch(/expected|missing|unknown|did you mean|not a/)
    const { out } = await runCli(['check', fileOf(policy)])
    expect(out).toContain('fault windows.0.windowMs: unknown key')
  })

  it('check accepts a single limit, policies without defaults, and modules', async () => {
    expect(await runCli(['check', fileOf({ limit: 100, per: '15m' })])).toMatchObject({ code: 0 })
    const short = { ...policyOf({ '1h': [3_600_000, 10] }), layers: [{ name: 'user' }] }
    expect(await runCli(['check', fileOf(short)])).toMatchObject({ code: 0 })
    const module = fileOf(`export const policy = ${JSON.stringify(short)}`, 'mjs')
    expect(await runCli(['check', module])).toMatchObject({ code: 0 })
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
    const policy = policyOf({ '1h': [3_600_000, 10] })
    const dear = { ...policy, operations: { go: { category: 'call', cost: 11 }, near: { category: 'call', cost: 9 } } }
    const { code, findings: found } = await findings(dear)
    expect(code).toBe(0)
    expect(found).toMatchObject([{ level: 'warning', code: 'never_admitted', path: 'base.user.call.1h' }])
    expect((await runCli(['check', fileOf(dear), '--strict'])).code).toBe(1)
    const near = { ...policy, operations: { near: { category: 'call', cost: 9 } } }
    expect((await findings(near)).findings).toMatchObject([{ level: 'note', message: /^in mode conservative/ }])
  })

  it('check reports categories without operations, plans equal to the base, and shares above the whole', async () => {
    const policy = {
      ...defaultPolicy({
        base: {
          personal: { read: { '1h': 9, '5h': 20, '1d': 50 }, write: { '1h': 9, '5h': 20, '1d': 50 } },
          site: { read: { '1h': 90, '5h': 200, '1d': 500 }, write: { '1h': 9, '5h': 40, '1d': 'unlimited' } },
        },
        operations: { list: { category: 'read', cost: 0 } },
      }),
      plans: { pro: { personal: { read: { '1h': 9, '5h': 21 } } } },
    }
    const reported = (await findings(policy)).findings.map(({ code, path }) => `${code} ${path}`)
    expect(reported).toEqual([
      'plan_like_base plans.pro.personal.read.1h',
      'above_shared base.personal.write.1h',
      'free operations.list.cost',
      'unused_category categories.1',
    ])
  })

  it('check prints no escape sequences from a file', async () => {
    const { out } = await runCli(['check', fileOf({ ...defaultPolicy(), 'a\u001b[31m\u202eb': 1 })])
    for (const character of ['\u001b', '\u202e']) expect(out).not.toContain(character)
  })
})

describe('limits that never bind', () => {
  it.each([
    ['a day of hours', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_500] }, 'never_binds base.user.call.1d'],
    ['a day of hours, nearly', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_499] }, 'hardly_binds base.user.call.1d'],
    ['a day that counts', { '1h': [3_600_000, 100], '1d': [86_400_000, 2_399] }, undefined],
    ['a shorter one above twice', { '1h': [3_600_000, 100], '1d': [86_400_000, 50] }, 'never_binds base.user.call.1h'],
    ['a shorter one above', { '1h': [3_600_000, 99], '1d': [86_400_000, 50] }, 'hardly_binds base.user.call.1h'],
    ['the same', { a: [3_600_000, 50], b: [3_600_000, 50] }, 'hardly_binds base.user.call.b'],
  ] as const)('limits that never bind, %s', async (_, limits, expected) => {
    const found = await lint(policyOf(limits))
    expect(found.map(({ code, path }) => `${code} ${path}`)).toEqual(expected === undefined ? [] : [expected])
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
        const policy = policyOf(Object.fromEntries(windows.map(([s, limit], at) => [`w${at}`, [s * 1_000, limit]])))
        const never = (await lint(policy)).filter(({ code }) => code === 'never_binds').map(({ path }) => path)
        idle += never.length
        const clock = { at: 1_000_000, now: () => clock.at }
        const quota = createQuota({ policy, clock })
        for (const [later, cost] of requests) {
          clock.at += later
          const decision = quota.consumeSync({ subject: 'u', operation: 'go', cost })
          const refusing = decision.allowed ? [] : decision.violations.filter(({ retryable }) => retryable)
          const others = refusing.map(({ window }) => `base.user.call.${window}`)
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
