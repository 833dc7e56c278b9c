import { afterAll, describe, expect, it } from 'vitest'
import { runCli } from './run-cli.ts'
import { fileOf, removeFiles } from './temporary.ts'

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

describe('a policy of several units', () => {
  it('is checked: limits of two units never reach each other', async () => {
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

  it('is not replayed, and says so', async () => {
    const log = fileOf(JSON.stringify({ time: '2026-08-06T12:00:00Z', user: 'ann', operation: 'go' }), 'ndjson')
    const { code, out, err } = await runCli(['simulate', fileOf(POLICY), log, '--json'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('counts several units: simulate replays policies of one')
  })
})
