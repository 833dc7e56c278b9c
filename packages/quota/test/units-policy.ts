import { type DefinedPolicy, definePolicy, type UnitsOf } from '../src/index.ts'

/** Requests and tokens a minute, money a month: a user, a team, everybody. */
export const unitsPolicy: DefinedPolicy<
  'complete' | 'list' | 'late' | 'fitted' | 'agent',
  'chat',
  'user' | 'team' | 'service',
  '1m' | 'tokens-1m' | 'budget',
  'running',
  UnitsOf<'requests' | 'tokens' | 'microusd'>
> = definePolicy({
  units: ['requests', 'tokens', { name: 'microusd', format: { currency: 'USD', scale: 6 } }],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1m', per: '1m', unit: 'tokens' },
    { label: 'budget', per: '30d', unit: 'microusd' },
  ],
  categories: ['chat'],
  layers: [{ name: 'user' }, { name: 'team' }, { name: 'service', shared: true }],
  operations: {
    complete: { category: 'chat', cost: { requests: 1, tokens: 2_000, microusd: 9_000 } },
    list: { category: 'chat', cost: { requests: 1 } },
    late: {
      category: 'chat',
      cost: { requests: 1, tokens: 1_000, microusd: 3_000 },
      overrun: 'charge',
      maxOverrun: { requests: 0, tokens: 5_000, microusd: 20_000 },
    },
    fitted: {
      category: 'chat',
      cost: { requests: 1 },
      overrun: 'fit',
      maxOverrun: { requests: 0, tokens: 100_000, microusd: 1_000_000 },
    },
    agent: { category: 'chat', cost: { requests: 1, tokens: 1_000 } },
  },
  concurrency: { label: 'running', operations: ['agent'] },
  base: {
    user: { chat: { '1m': 5, 'tokens-1m': 10_000, budget: 50_000, running: 2 } },
    team: { chat: { '1m': 8, 'tokens-1m': 15_000, budget: 80_000 } },
    service: { chat: { '1m': 100, 'tokens-1m': 200_000, budget: 'unlimited' } },
  },
  plans: { pro: { user: { chat: { 'tokens-1m': 12_000 } } } },
})

export const SUBJECT: { readonly user: string; readonly team: string } = { user: 'ann', team: 'blue' }
