import type { Contestant } from '../rounds.ts'
import { type Batches, batches } from './users.ts'

export interface DecidingOptions {
  /** Whether it is to admit all of them or none; anything else is an error, since no decision was measured. */
  readonly expected?: 'all' | 'none'
  /** Whom it decides for. */
  readonly asked?: Batches
}

/**
 * A contestant that decides for one batch of users after another.
 *
 * @param admit decides for each of the users, and returns how many it admitted
 */
export function deciding(
  name: string,
  admit: (users: Uint32Array) => number | Promise<number>,
  { expected = 'all', asked = batches }: DecidingOptions = {},
): Contestant {
  let next = 0
  return {
    name,
    async perSecondOver(durationMs) {
      const startedAt = performance.now()
      const cpu = process.cpuUsage()
      let decisions = 0
      let admitted = 0
      do {
        const users = asked[next++ % asked.length] ?? new Uint32Array()
        const answer = admit(users)
        admitted += typeof answer === 'number' ? answer : await answer
        decisions += users.length
      } while (performance.now() - startedAt < durationMs)
      // The processor's time, garbage collection included: the wall's clock would count what else the machine does.
      const { user, system } = process.cpuUsage(cpu)
      if (admitted !== (expected === 'all' ? decisions : 0)) {
        throw new Error(`${name} admitted ${admitted} of ${decisions}, expected ${expected}`)
      }
      return (decisions * 1_000_000) / (user + system)
    },
  }
}
