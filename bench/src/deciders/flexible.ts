import { type RateLimiterAbstract, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Admit } from './decider.ts'

/** Tokens per decision. */
export const COST = 15
export const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000] as const

/** The parts of a limiter of rate-limiter-flexible. */
export interface LimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

type Make = (options: LimiterOptions) => RateLimiterAbstract | Promise<RateLimiterAbstract>

/** One limit per user. */
export async function flexibleOne(make: Make, cost = COST): Promise<Admit> {
  const limiter = await make(optionsOf('one', WINDOWS_MS[0]))
  return async (user) => (await limiter.consume(user, cost)).remainingPoints > 0
}

/** The same six limits as ours. Each is a separate statement, and independent of the others. */
export async function flexibleSix(make: Make, cost = COST): Promise<Admit> {
  const unionOf = async (layer: string): Promise<RateLimiterUnion> =>
    new RateLimiterUnion(...(await Promise.all(WINDOWS_MS.map((ms) => make(optionsOf(layer, ms))))))
  const [personal, site] = await Promise.all([unionOf('personal'), unionOf('site')])
  return async (user) => {
    await Promise.all([personal.consume(user, cost), site.consume('site', cost)])
    return true
  }
}

/** A limiter on a database, once it has made its table. */
export function whenReady(make: (ready: (error?: Error) => void) => RateLimiterAbstract): Promise<RateLimiterAbstract> {
  return new Promise((resolve, reject) => {
    const limiter = make((error) => (error ? reject(error) : resolve(limiter)))
  })
}

function optionsOf(layer: string, ms: number): LimiterOptions {
  return { keyPrefix: `${layer}${ms}`, points: 10 ** 11, duration: ms / 1000 }
}
