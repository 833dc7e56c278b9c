import { type RateLimiterAbstract, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Decider } from './decider.ts'

/** Tokens per decision. */
export const COST = 15
export const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000] as const

/** The parts of a limiter of rate-limiter-flexible. */
export interface LimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

/** One limit per user. */
export async function oneLimit(
  make: (options: LimiterOptions) => Promise<RateLimiterAbstract>,
): Promise<Pick<Decider, 'admit'>> {
  const limiter = await make(optionsOf('one', WINDOWS_MS[0]))
  return { admit: async (user) => (await limiter.consume(user, COST)).remainingPoints > 0 }
}

/** The same six limits as ours. Each is a separate statement, and independent of the others. */
export async function sixLimits(
  make: (options: LimiterOptions) => Promise<RateLimiterAbstract>,
): Promise<Pick<Decider, 'admit'>> {
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
