import { createQuota, definePolicy, memoryStore, type SeveralUnits, type SyncQuota } from '@scoregw/quota'
import { type ModelTokens, priced } from '../src/index.ts'

type Unit = 'requests' | 'tokens' | 'microusd'

interface Fixture<Q, Used> {
  readonly clock: { at: number }
  readonly quota: Q
  readonly used: () => Used
  readonly held: () => Promise<number>
}

const shape = {
  categories: ['chat'],
  layers: [{ name: 'user' }],
} as const

/** Counts tokens alone: 1,000 an hour. */
export function tokensOnly(): Fixture<SyncQuota<'chat' | 'plain'>, number | undefined> {
  const clock = { at: Date.UTC(2026, 10, 23), now: (): number => clock.at }
  const policy = definePolicy({
    ...shape,
    windows: [{ label: '1h' }],
    operations: {
      chat: { category: 'chat', cost: 0, overrun: 'charge', maxOverrun: 5_000 },
      plain: { category: 'chat', cost: 1 },
    },
    base: { user: { chat: { '1h': 1_000 } } },
  })
  const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
  const used = () => quota.statusSync('u').windows.chat?.[0]?.used
  const held = async () => (await quota.holds.list('u')).length
  return { clock, quota, used, held }
}

/** Counts requests, tokens and money. */
export function threeUnits(): Fixture<SyncQuota<'chat', SeveralUnits<Unit>>, readonly number[] | undefined> {
  const clock = { at: Date.UTC(2026, 10, 23), now: (): number => clock.at }
  const policy = definePolicy({
    ...shape,
    units: ['requests', 'tokens', 'microusd'],
    windows: [
      { label: '1m', unit: 'requests' },
      { label: 'tokens-1h', per: '1h', unit: 'tokens' },
      { label: 'money-1h', per: '1h', unit: 'microusd' },
    ],
    operations: {
      chat: {
        category: 'chat',
        cost: { requests: 1 },
        overrun: 'charge',
        maxOverrun: { requests: 1, tokens: 5_000, microusd: 50_000 },
      },
    },
    base: { user: { chat: { '1m': 3, 'tokens-1h': 10_000, 'money-1h': 100_000 } } },
  })
  const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
  const used = () => quota.statusSync('u').windows.chat?.map((window) => window.used)
  const held = async () => (await quota.holds.list('u')).length
  return { clock, quota, used, held }
}

export const PRICES: (tokens: ModelTokens, model: string) => Record<'tokens' | 'microusd', number> = priced({
  small: { input: 0.25, cachedInput: 0.025, output: 2 },
  large: { input: 1.1, cachedInput: 0.1, cacheWrite: 1.4, output: 10, reasoning: 12 },
})
