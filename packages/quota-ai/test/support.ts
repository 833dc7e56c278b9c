import { createQuota, definePolicy, memoryStore, type SeveralUnits, type SyncQuota } from '@scoregw/quota'
import { type ModelTokens, priced } from '../src/index.ts'

type Unit = 'requests' | 'tokens' | 'microusd'

interface Fixture<Q, Used> {
  readonly clock: { at: number }
  readonly quota: Q
  readonly used: () => Used
  readonly held: () => Promise<number>
}

/** Counts tokens alone: 1,000 an hour. */
export function tokensOnly(): Fixture<SyncQuota<'chat' | 'plain'>, number | undefined> {
  const clock = { at: Date.UTC(2026, 10, 23), now: (): number => clock.at }
  const policy = definePolicy({
    unit: 'tokens',
    limits: { tokens: { by: 'user', limit: 1_000, per: '1h' } },
    operations: {
      chat: { cost: 0, free: true, overrun: 'charge', maxOverrun: 5_000 },
      plain: { cost: 1 },
    },
  })
  const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
  const used = () => quota.statusSync('u').limits.tokens?.used
  const held = async () => (await quota.holds.list('u')).length
  return { clock, quota, used, held }
}

/** Counts requests, tokens and money. */
export function threeUnits(): Fixture<SyncQuota<'chat', SeveralUnits<Unit>>, readonly number[] | undefined> {
  const clock = { at: Date.UTC(2026, 10, 23), now: (): number => clock.at }
  const policy = definePolicy({
    limits: {
      perMinute: { by: 'user', limit: 3, per: '1m' },
      tokens: { by: 'user', limit: 10_000, of: 'tokens', per: '1h' },
      money: { by: 'user', limit: 100_000, of: 'microusd', per: '1h' },
    },
    operations: {
      chat: { overrun: 'charge', maxOverrun: { requests: 1, tokens: 5_000, microusd: 50_000 } },
    },
  })
  const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
  const used = () => Object.values(quota.statusSync('u').limits).map((limit) => limit.used)
  const held = async () => (await quota.holds.list('u')).length
  return { clock, quota, used, held }
}

export const PRICES: (tokens: ModelTokens, model: string) => Record<'tokens' | 'microusd', number> = priced({
  small: { input: 0.25, cachedInput: 0.025, output: 2 },
  large: { input: 1.1, cachedInput: 0.1, cacheWrite: 1.4, output: 10, reasoning: 12 },
})
