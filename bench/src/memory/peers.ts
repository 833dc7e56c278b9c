import { MemoryStore, type Options } from 'express-rate-limit'
import { TokenBucket } from 'limiter'
import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Contestant } from '../rounds.ts'
import { deciding } from './contestant.ts'
import { Floor } from './floor.ts'
import { COST } from './ours.ts'

const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000]
/** A limit that never refuses. */
const LIMIT = 10 ** 11

export function floor(): Contestant {
  const limits = new Floor(LIMIT)
  return deciding('floor: loop over a Map', (users) => {
    let admitted = 0
    for (const user of users) if (limits.take(`user-${user}`, COST) === 0) admitted++
    return admitted
  })
}

export function peers(): Contestant[] {
  return [flexibleOne(), flexibleSix(), expressStores(), tokenBuckets()]
}

/** Three limiters of rate-limiter-flexible, whose key prefixes say what they limit. */
export function flexibleLimiters(layer: string): RateLimiterMemory[] {
  return WINDOWS_MS.map(
    (ms) => new RateLimiterMemory({ keyPrefix: `${layer}${ms}`, points: LIMIT, duration: ms / 1000 }),
  )
}

/** Three stores of express-rate-limit. */
export function expressWindows(): MemoryStore[] {
  return WINDOWS_MS.map((windowMs) => {
    const store = new MemoryStore()
    store.init({ windowMs } as Options)
    return store
  })
}

function flexibleOne(): Contestant {
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: 3_600 })
  return deciding('rate-limiter-flexible: one limit', async (users) => {
    for (const user of users) await limiter.consume(`user-${user}`, COST)
    return users.length
  })
}

function flexibleSix(): Contestant {
  const personal = new RateLimiterUnion(...flexibleLimiters('personal'))
  const site = new RateLimiterUnion(...flexibleLimiters('site'))
  return deciding('rate-limiter-flexible: six limits, two unions', async (users) => {
    for (const user of users) {
      await personal.consume(`user-${user}`, COST)
      await site.consume('all', COST)
    }
    return users.length
  })
}

function expressStores(): Contestant {
  const personal = expressWindows()
  const site = expressWindows()
  const allows = async (stores: readonly MemoryStore[], key: string): Promise<boolean> => {
    let allowed = true
    for (const store of stores) if ((await store.increment(key)).totalHits > LIMIT) allowed = false
    return allowed
  }
  return deciding('express-rate-limit: six MemoryStores', async (users) => {
    let admitted = 0
    for (const user of users) {
      if ((await allows(personal, `user-${user}`)) && (await allows(site, 'all'))) admitted++
    }
    return admitted
  })
}

function tokenBuckets(): Contestant {
  const users = new Map<string, TokenBucket[]>()
  const site = buckets()
  const bucketsOf = (user: string): TokenBucket[] => {
    const known = users.get(user)
    if (known !== undefined) return known
    const added = buckets()
    users.set(user, added)
    return added
  }
  return deciding('limiter: six TokenBuckets', (keys) => {
    let admitted = 0
    for (const user of keys) if (takeAll(bucketsOf(`user-${user}`)) && takeAll(site)) admitted++
    return admitted
  })
}

function takeAll(buckets: readonly TokenBucket[]): boolean {
  let allowed = true
  for (const bucket of buckets) allowed = bucket.tryRemoveTokens(COST) && allowed
  return allowed
}

function buckets(): TokenBucket[] {
  return WINDOWS_MS.map((interval) => {
    const bucket = new TokenBucket({ bucketSize: LIMIT, tokensPerInterval: LIMIT, interval })
    bucket.content = LIMIT
    return bucket
  })
}
