import assert from 'node:assert/strict'
import { definePolicy, type Quota } from '@scoregw/quota'
import { abilityCase, enginesOn } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { MINUTE_MS } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, SECOND_MS } from './probe.ts'

const REQUESTS = { limit: 5, per: '1m' } as const
const TOKENS = { limit: 1_000, of: 'tokens', per: '1m' } as const
const BUDGET = { limit: 9_000, of: 'money', per: '1h' } as const

/** Requests, tokens and money, per user, per team and for all subjects. */
const POLICY = definePolicy({
  limits: {
    requests: { by: 'user', ...REQUESTS },
    tokens: { by: 'user', ...TOKENS },
    budget: { by: 'user', ...BUDGET },
    'team-requests': { by: 'team', ...REQUESTS },
    'team-tokens': { by: 'team', ...TOKENS },
    'team-budget': { by: 'team', ...BUDGET },
    'all-requests': { shared: 'all', ...REQUESTS },
    'all-tokens': { shared: 'all', ...TOKENS },
    'all-budget': { shared: 'all', ...BUDGET },
  },
  operations: { ask: { cost: { tokens: 400, money: 3_000 } } },
})
const ASK = { subject: { user: 'u', team: 't' }, operation: 'ask' } as const

interface Given extends CaseContext {
  readonly quota: Quota
  /** An engine in another process. */
  readonly other: Quota
}

function unitsCase(name: string, needs: readonly Need[], run: (given: Given) => Promise<void>): ContextCase {
  return abilityCase(`engine: with several units, ${name}`, needs, (context) => {
    const [quota, other] = enginesOn(context, POLICY)
    return run({ ...context, quota, other })
  })
}

/** The used amounts of each limit, layer by layer. */
async function used(quota: Quota): Promise<readonly (number | undefined)[]> {
  return Object.values((await quota.status(ASK.subject)).limits).map((limit) => limit?.used)
}

/** The same amounts of requests, tokens and money in all three layers. */
function inEach(...amounts: readonly number[]): readonly number[] {
  return [...amounts, ...amounts, ...amounts]
}

/** Shorter than any window, so that no tokens return by themselves. */
const HOLD_MS = 20 * SECOND_MS

/** Cases for engines whose policy counts several units. */
export const ENGINE_UNIT_CASES: readonly ContextCase[] = [
  unitsCase('all are charged in every layer or none', [], async ({ quota, other, advance, clock }) => {
    const { allowed, cost } = await quota.consume(ASK)
    assert.deepEqual([allowed, cost], [true, { requests: 1, tokens: 400, money: 3_000 }])
    assert.deepEqual(await used(other), inEach(1, 400, 3_000))
    await advance(1_000)
    for (const [more, unit, resetAt] of [
      [{ requests: 5 }, 'requests', clock.now() - 1_000 + MINUTE_MS],
      [{ tokens: 601 }, 'tokens', clock.now() - 1_000 + MINUTE_MS],
      [{ money: 6_001 }, 'money', clock.now() - 1_000 + HOUR_MS],
    ] as const) {
      const refused = await other.consume({ ...ASK, cost: more })
      assert.ok(!refused.allowed, `more ${unit} than are left`)
      assert.deepEqual([refused.refusedBy.unit, refused.resetAt], [unit, resetAt])
      assert.deepEqual(await used(quota), inEach(1, 400, 3_000))
    }
    assert.equal((await other.consume({ ...ASK, cost: { requests: 4, tokens: 600, money: 6_000 } })).allowed, true)
    assert.deepEqual(await used(quota), inEach(5, 1_000, 9_000))
  }),
  unitsCase("all are given back when a dead holder's hold expires", ['holds'], async ({ quota, other, advance }) => {
    await quota.reserve({ ...ASK, ttlMs: HOLD_MS })
    await other.reserve({ ...ASK, cost: { tokens: 5 }, ttlMs: 3 * HOLD_MS })
    const ended: unknown[] = []
    other.on('holdEnded', ({ cost }) => ended.push(cost))
    await advance(HOLD_MS - 1)
    await other.holds.sweep()
    assert.deepEqual([await used(other), ended], [inEach(2, 405, 6_000), []])
    await advance(1)
    await other.holds.sweep()
    assert.deepEqual(ended, [{ requests: 1, tokens: 400, money: 3_000 }])
    assert.deepEqual(await used(other), inEach(1, 5, 3_000))
  }),
]
