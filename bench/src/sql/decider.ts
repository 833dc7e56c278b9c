import { createQuota, defaultPolicy, type LimitTable, type Policy, type QuotaStore } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import { type RateLimiterAbstract, RateLimiterUnion } from 'rate-limiter-flexible'

/** Tokens a decision. */
export const COST = 15
const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000]

/** Something that decides by a database whether a user may go on; every one of them is to admit everybody. */
export interface SqlDecider {
  readonly name: string
  admit(user: string): Promise<boolean>
  stop(): Promise<void>
}

/** What is charged for. */
export const OPERATION = 'music.upsert'
const WINDOWS = { '1h': MAX_LIMIT, '5h': MAX_LIMIT, '1d': MAX_LIMIT }
const LAYER = { read: WINDOWS, write: WINDOWS }
const BASE: LimitTable = { personal: LAYER, site: LAYER }

/** Three windows of each user and three of everybody. */
export const BENCH_POLICY: Policy<typeof OPERATION> = defaultPolicy({
  operations: { [OPERATION]: { category: 'write', cost: COST } },
  base: BASE,
})

/** {@link BENCH_POLICY} on a store. */
export function quotaOn(store: QuotaStore): Pick<SqlDecider, 'admit' | 'stop'> {
  const quota = createQuota({ policy: BENCH_POLICY, store })
  return {
    async admit(subject) {
      const { allowed, source } = await quota.consume({ subject, operation: OPERATION })
      return allowed && source === 'store'
    },
    stop: () => quota.close(),
  }
}

/** What a limiter of rate-limiter-flexible is made of. */
export interface LimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

/** One limit of each user. */
export async function oneLimit(
  make: (options: LimiterOptions) => Promise<RateLimiterAbstract>,
): Promise<Pick<SqlDecider, 'admit'>> {
  const limiter = await make(optionsOf('one', WINDOWS_MS[0] ?? 0))
  return { admit: async (user) => (await limiter.consume(user, COST)).remainingPoints > 0 }
}

/** The six limits that ours has; each is a statement of its own, and none knows of the others. */
export async function sixLimits(
  make: (options: LimiterOptions) => Promise<RateLimiterAbstract>,
): Promise<Pick<SqlDecider, 'admit'>> {
  const unionOf = async (layer: string): Promise<RateLimiterUnion> =>
    new RateLimiterUnion(...(await Promise.all(WINDOWS_MS.map((ms) => make(optionsOf(layer, ms))))))
  const [personal, site] = await Promise.all([unionOf('personal'), unionOf('site')])
  return {
    async admit(user) {
      await Promise.all([personal.consume(user, COST), site.consume('site', COST)])
      return true
    },
  }
}

function optionsOf(layer: string, ms: number): LimiterOptions {
  return { keyPrefix: `${layer}${ms}`, points: 10 ** 11, duration: ms / 1000 }
}
