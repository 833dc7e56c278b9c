import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { Simulation } from '../src/simulate/result.ts'
import { runCli } from './run-cli.ts'
import { fileOf, newPath, removeFiles } from './temporary.ts'

afterAll(removeFiles)

const LIMITS = {
  perMinute: { by: 'user', limit: 5, per: '1m' },
  tokens: { by: 'user', limit: 1_000_000, of: 'tokens', per: '1h' },
}
const POLICY = { limits: LIMITS, operations: { go: { cost: { tokens: 10 } }, look: {} } }

describe('the command line with several units', () => {
  it('check compares limits only within a unit', async () => {
    const { code, out } = await runCli(['check', fileOf(POLICY), '--json'])
    const { findings } = JSON.parse(out) as { findings: object[] }
    expect([code, findings]).toEqual([0, []])
    const limits = { ...LIMITS, perMinute: { ...LIMITS.perMinute, of: 'tokens' } }
    const checked = await runCli(['check', fileOf({ limits, operations: { go: { cost: { tokens: 10 } } } }), '--json'])
    expect(checked.out).toContain('never_binds')
  })

  /** Six requests within a minute, one a second; `third` is of 999,960 tokens more than the price. */
  const LOG = fileOf(
    Array.from({ length: 6 }, (_, second) =>
      JSON.stringify({
        time: `2026-08-06T12:00:0${second}Z`,
        user: 'ann',
        operation: 'go',
        ...(second === 2 ? { usage: { total: 999_970 } } : {}),
      }),
    ).join('\n'),
    'ndjson',
  )

  it('simulate charges the log’s amounts, else the price, and names the refusing limit’s unit', async () => {
    const refusals = newPath('refusals')
    const options = ['--cost', 'tokens=usage.total', '--refusals', refusals]
    const { code, out, err } = await runCli(['simulate', fileOf(POLICY), LOG, '--json', ...options])
    expect([code, err]).toEqual([0, ''])
    const [result] = (JSON.parse(out) as Simulation).policies
    // 10 + 10 + 999,970 + 10 tokens are the whole limit.
    expect(result).toMatchObject({
      units: ['requests', 'tokens'],
      cost: { charged: { requests: 4, tokens: 1_000_000 }, refused: { requests: 2, tokens: 20 } },
      limits: [{ name: 'tokens', unit: 'tokens', limit: 1_000_000, refusals: 2 }],
    })
    const lines = readFileSync(refusals, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { line: 5, cost: { requests: 1, tokens: 10 }, refusedBy: { name: 'tokens', unit: 'tokens', used: 1_000_000 } },
      { line: 6, refusedBy: { unit: 'tokens' } },
    ])
  })

  it('simulate shows units when it compares a policy of several units with one of a single unit', async () => {
    const page = newPath('html')
    const { code, out } = await runCli([
      ...[
        'simulate',
        fileOf(POLICY),
        LOG,
        '--against',
        fileOf({ limits: { hourly: { by: 'user', limit: 25, per: '1h' } }, operations: { go: {} } }),
      ],
      ...['--route', 'GET / = go', '--html', page],
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/perMinute +5 requests +1 /)
    const text = readFileSync(page, 'utf8')
    expect(text).toContain('<dt>requests charged</dt><dd>5</dd>')
    expect(text).toContain('<dt>tokens charged</dt><dd>50</dd>')
    expect(text).toContain('5 requests</td>')
  })

  it.each([
    ['usage.total', 'the policies count several units'],
    ['seconds=usage.total', 'no policy counts "seconds"'],
  ])('simulate rejects --cost %s for several units', async (cost, message) => {
    const { code, out, err } = await runCli(['simulate', fileOf(POLICY), LOG, '--cost', cost])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err).toContain('--cost requests=FIELD,tokens=FIELD')
  })

  it('simulate reads and shows money in its currency', async () => {
    const budget = { by: 'user', limit: { USD: '0.05' }, of: 'usd', per: '1d' }
    const policy = fileOf({ limits: { budget }, operations: { chat: { cost: { usd: { USD: '0.01' } } } } })
    const lines = [0.03, '0.0200', undefined, 0.000_000_1, -1].map((spent, second) =>
      JSON.stringify({ time: `2026-08-06T12:00:0${second}Z`, user: 'ann', spent }),
    )
    const log = fileOf(lines.join('\n'), 'ndjson')
    const page = newPath('html')
    const { code, out } = await runCli(['simulate', policy, log, '--cost', 'usd=spent', '--html', page])
    expect(code).toBe(0)
    // 0.03 and 0.02 are the whole budget; the price of the third doesn't fit, less than a millionth is nothing.
    expect(out).toContain('1 refused (25 %) of 4 requests')
    expect(out).toMatch(/budget +0\.05 USD usd +1 /)
    expect(out).toContain('skipped 1 line: a cost that is not a whole number')
    expect(readFileSync(page, 'utf8')).toContain('<dt>usd charged</dt><dd>0.05 USD</dd>')
  })
})
