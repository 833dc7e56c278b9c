import { definePolicy, money, type Policy, type Subject } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { StoreAbility } from '@scoregw/quota-testkit'
import type { Scene } from './policies.ts'

const usd = money('USD')

/** What people ask for most often. */
const POLICIES: Readonly<Record<string, readonly [policy: Policy, needs: readonly StoreAbility[]]>> = {
  'one limit per address': [definePolicy({ limits: { api: { by: 'ip', limit: 100, per: '15m' } } }), []],
  'users and everybody': [
    definePolicy({
      limits: {
        perMinute: { by: 'user', limit: 60, per: '1m' },
        daily: { by: 'user', limit: 5_000, per: '1d' },
        service: { shared: 'service', limit: 1_000, per: '1m' },
      },
    }),
    [],
  ],
  'requests, tokens and money': [
    definePolicy({
      limits: {
        perMinute: { by: 'user', limit: 20, per: '1m' },
        tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
        budget: { by: 'user', limit: usd(20), of: usd, per: '30d' },
        'team-tokens': { by: 'team', limit: 500_000, of: 'tokens', per: '1h' },
        'team-budget': { by: 'team', limit: usd(100), of: usd, per: '30d' },
        service: { shared: 'service', limit: 900, per: '1m' },
        'service-budget': { shared: 'service', limit: usd(2_000), of: usd, per: '30d' },
      },
      operations: {
        chat: { cost: { tokens: 2_000, usd: usd(0.009) } },
        embed: { cost: { tokens: 500, usd: usd(0.000_01) } },
      },
    }),
    [],
  ],
  plans: [
    definePolicy({
      limits: {
        perMinute: { by: 'customer', limit: 20, per: '1m' },
        daily: { by: 'customer', limit: 1_000, per: '1d' },
        service: { shared: 'service', limit: 50_000, per: '1m' },
      },
      plans: { small: { perMinute: 2 }, large: { perMinute: 2_000, daily: 'unlimited' } },
    }),
    [],
  ],
  'reads and writes': [
    definePolicy({
      limits: {
        reads: { by: 'user', limit: 300, per: '1m', for: 'read' },
        writes: { by: 'user', limit: 30, per: '1m', for: 'write' },
        daily: { by: 'user', limit: 1_000, per: '1d' },
      },
      operations: { look: { category: 'read' }, save: { category: 'write' } },
    }),
    [],
  ],
  'log-in failures': [
    definePolicy({
      limits: {
        'account-15m': { by: 'account', limit: 5, per: '15m' },
        'account-1d': { by: 'account', limit: 20, per: '1d' },
        'address-15m': { by: 'address', limit: 20, per: '15m' },
        'address-1d': { by: 'address', limit: 100, per: '1d' },
      },
      operations: { attempt: {} },
    }),
    [],
  ],
  'three at once and a hundred a day': [
    definePolicy({
      limits: {
        atOnce: { by: 'user', concurrency: 3 },
        daily: { by: 'user', limit: 100, per: '1d' },
      },
      operations: { render: {} },
    }),
    ['holds', 'concurrency'],
  ],
  'a bucket with a burst': [
    definePolicy({ limits: { api: { by: 'user', limit: 600, per: '1m', burst: 50 } } }),
    ['bucket'],
  ],
  'months from a billing day': [
    definePolicy({
      limits: { month: { by: 'customer', limit: 10_000, every: 'month', timeZone: 'UTC', anchor: 'subject' } },
    }),
    ['calendar'],
  ],
  'the score gateway': [scoreGatewayPolicy(), []],
}

/** Two subjects of a policy, and one without a key in its last layer. */
function subjectsOf({ layers }: Policy): readonly Subject[] {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (own.length === 1) return ['a', 'b']
  const keys = (last: string | null) => Object.fromEntries(own.map((name, at) => [name, at > 0 ? last : 'a']))
  return [keys('x'), keys('y'), keys(null)]
}

/** Ten policies as users write them. */
export const TEN_SCENES: readonly Scene[] = Object.entries(POLICIES).map(([name, [policy, needs]]) => ({
  name,
  policy,
  edits: [],
  subjects: subjectsOf(policy),
  needs,
}))
