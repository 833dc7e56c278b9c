import type { Contestant } from '../rounds.ts'
import { batches } from './users.ts'

/**
 * A contestant that decides for one batch of users after another.
 *
 * @param admit decides for each of the users, and returns how many it admitted
 * @param expected whether it is to admit all of them or none; anything else is an error, since no decision was measured
 */
export function deciding(
  name: string,
  admit: (users: readonly string[]) => number | Promise<number>,
  expected: 'all' | 'none' = 'all',
): Contestant {
  let next = 0
  return {
    name,
    async perSecondOver(durationMs) {
      const startedAt = performance.now()
      let decisions = 0
      let admitted = 0
      let elapsedMs = 0
      do {
        const users = batches[next++ % batches.length] ?? []
        const answer = admit(users)
        admitted += typeof answer === 'number' ? answer : await answer
        decisions += users.length
        elapsedMs = performance.now() - startedAt
      } while (elapsedMs < durationMs)
      if (admitted !== (expected === 'all' ? decisions : 0)) {
        throw new Error(`${name} admitted ${admitted} of ${decisions}, expected ${expected}`)
      }
      return decisions / (elapsedMs / 1000)
    },
  }
}
