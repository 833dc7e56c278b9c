import { RateLimiterMemory } from 'rate-limiter-flexible'
import { flexibleOne, flexibleSix, type LimiterOptions } from '../deciders/flexible.ts'
import type { Contestant } from '../rounds.ts'
import { awaiting, deciding } from './contestant.ts'
import { Floor } from './floor.ts'
import { COST } from './ours.ts'

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

/** rate-limiter-flexible, with one limit of each user, and with the same six limits as ours. */
export async function peers(): Promise<Contestant[]> {
  const make = (options: LimiterOptions) => new RateLimiterMemory(options)
  return [
    awaiting('rate-limiter-flexible: one limit', await flexibleOne(make)),
    awaiting('rate-limiter-flexible: six limits, two unions', await flexibleSix(make)),
  ]
}
