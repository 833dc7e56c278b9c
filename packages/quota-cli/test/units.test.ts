import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { Simulation } from '../src/simulate/result.ts'
import { runCli } from './run-cli.ts'
import { fileOf, newPath, removeFiles } from './temporary.ts'

afterAll(removeFiles)

const POLICY = {
  units: ['requests', 'tokens'],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1h', per: '1h', unit: 'tokens' },
  ],
  categories: ['call'],
  layers: [{ name: 'user' }],
  operations: {
    go: { category: 'call', cost: { requests: 1, tokens: 10 } },
    look: { category: 'call', cost: { tokens: 0 } },
  },
  base: { user: { call: { '1m': 5, 'tokens-1h': 1_000_000 } } },
}

describe('the command line with several units', () => {
  it('check compares limits only within a unit', async () => {
    const { code, out } = await runCli(['check', fileOf(POLICY), '--json'])
    const { findings } = JSON.parse(out) as { findings: { code: string; path: string }[] }
    expect([code, findings.map((each) => [each.code, each.path])]).toEqual([0, [['free', 'operations.look.cost']]])
    const same = {
      ...POLICY,
      windows: POLICY.windows.map((window) => ({ ...window, unit: 'tokens' })),
      units: ['tokens'],
    }
    const operations = { go: { category: 'call', cost: 10 } }
    const checked = await runCli(['check', fileOf({ ...same, operations }), '--json'])
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
      limits: [{ window: 'tokens-1h', unit: 'tokens', limit: 1_000_000, refusals: 2 }],
    })
    expect(result).not.toHaveProperty('tokens')
    const lines = readFileSync(refusals, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { line: 5, unit: 'tokens', cost: { requests: 1, tokens: 10 }, used: 1_000_000 },
      { line: 6, unit: 'tokens' },
    ])
  })

  it('simulate shows units when it compares a policy of several units with one of a single unit', async () => {
    const page = newPath('html')
    const { code, out } = await runCli([
      ...['simulate', fileOf(POLICY), LOG, '--against', fileOf({ limit: 25, per: '1h' })],
      ...['--route', 'GET / = go', '--html', page],
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/user call 1m +5 requests +1 /)
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
})
