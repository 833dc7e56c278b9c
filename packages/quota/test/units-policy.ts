import { definePolicy, type Money, money, type Policy } from '../src/index.ts'
import type { CountingOf } from '../src/internal.ts'

export const usd: Money<'usd'> = money('USD')

/** Tokens, and micro-dollars. */
export function spent(tokens: number, micro: number): { tokens: number; usd: ReturnType<typeof usd> } {
  return { tokens, usd: usd.millionths(micro) }
}

type Limits = `${'user' | 'team' | 'service'}-${'1m' | 'tokens' | 'budget'}` | 'user-running'

/** Requests and tokens a minute, money a month: a user, a team, everybody. */
export const unitsPolicy: Policy<
  'complete' | 'list' | 'late' | 'fitted' | 'agent',
  CountingOf<Limits, 'user' | 'team', 'service', 'tokens', 'usd', never, 'requests', 'pro'>
> = definePolicy({
  limits: {
    'user-1m': { by: 'user', limit: 5, per: '1m' },
    'user-tokens': { by: 'user', limit: 10_000, of: 'tokens', per: '1m' },
    'user-budget': { by: 'user', limit: usd(0.05), of: usd, per: '30d' },
    'user-running': { by: 'user', concurrency: 2, for: 'agent' },
    'team-1m': { by: 'team', limit: 8, per: '1m' },
    'team-tokens': { by: 'team', limit: 15_000, of: 'tokens', per: '1m' },
    'team-budget': { by: 'team', limit: usd(0.08), of: usd, per: '30d' },
    'service-1m': { shared: 'service', limit: 100, per: '1m' },
    'service-tokens': { shared: 'service', limit: 200_000, of: 'tokens', per: '1m' },
    'service-budget': { shared: 'service', limit: 'unlimited', of: usd, per: '30d' },
  },
  operations: {
    complete: { cost: spent(2_000, 9_000) },
    list: {},
    late: { cost: spent(1_000, 3_000), overrun: 'charge', maxOverrun: spent(5_000, 20_000) },
    fitted: { overrun: 'fit', maxOverrun: spent(100_000, 1_000_000) },
    agent: { cost: { tokens: 1_000 } },
  },
  plans: { pro: { 'user-tokens': 12_000 } },
})

export const SUBJECT: { readonly user: string; readonly team: string } = { user: 'ann', team: 'blue' }
