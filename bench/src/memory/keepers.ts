import { MemoryStore, type Options } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { WINDOWS_MS } from '../deciders/flexible.ts'
import { floorRow } from './floor.ts'
import { engine } from './ours.ts'

/** The measured keepers, starting with only the keys. `later` is `quota` after a first window has ended. */
export const KEEPERS = ['keys', 'quota', 'later', 'array', 'express-rate-limit', 'rate-limiter-flexible'] as const
export type Keeper = (typeof KEEPERS)[number]

const AN_HOUR_MS = 3_600_000
/** A limit that nobody reaches. */
const MANY = 10 ** 11

/** Keeps something for a user. */
export type Keep = (user: string) => unknown

/** All keepers by name. Each takes the expected number of users. */
export const keepers: Readonly<Record<Keeper, (users: number) => Keep>> = {
  keys(users) {
    // The array is allocated before the measurement, which then only counts the text.
    const keys = new Array<string>(users)
    let next = 0
    return (user) => {
      keys[next++] = user
    }
  },
  quota() {
    const quota = engine(MANY)
    return (subject) => quota.consumeSync({ subject, operation: 'music.upsert' })
  },
  later() {
    let now = Date.now()
    const quota = engine(MANY, { now: () => now })
    return (subject) => {
      quota.consumeSync({ subject, operation: 'music.upsert' })
      now += AN_HOUR_MS
      quota.consumeSync({ subject, operation: 'music.upsert' })
      now -= AN_HOUR_MS
    }
  },
  array() {
    const rows = new Map<string, number[]>()
    return (user) => rows.set(user, floorRow())
  },
  'express-rate-limit'() {
    const stores = WINDOWS_MS.map((windowMs) => {
      const store = new MemoryStore()
      store.init({ windowMs } as Options)
      return store
    })
    return (user) => Promise.all(stores.map((store) => store.increment(user)))
  },
  'rate-limiter-flexible'() {
    const limiters = WINDOWS_MS.map(
      (ms) => new RateLimiterMemory({ keyPrefix: `${ms}`, points: MANY, duration: ms / 1000 }),
    )
    return (user) => Promise.all(limiters.map((limiter) => limiter.consume(user)))
  },
}
