import type { Admit } from '../deciders/decider.ts'
import { type Contestant, cpuUs } from '../rounds.ts'
import { type Batches, batches } from './users.ts'

export interface DecidingOptions {
  /** Whether it must admit all of them or none. Otherwise it throws, since no decision was measured. */
  readonly expected?: 'all' | 'none'
  /** The users that it decides for. */
  readonly asked?: Batches
}

/**
 * A contestant that decides for one batch of users after another.
 *
 * @param admit decides for each user, and returns how many it admitted
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
      const beforeUs = cpuUs()
      let decisions = 0
      let admitted = 0
      do {
        const users = asked[next++ % asked.length] ?? new Uint32Array()
        const answer = admit(users)
        admitted += typeof answer === 'number' ? answer : await answer
        decisions += users.length
      } while (performance.now() - startedAt < durationMs)
      // Processor time, including garbage collection. Wall-clock time would include other work on the machine.
      const spentUs = cpuUs() - beforeUs
      if (admitted !== (expected === 'all' ? decisions : 0)) {
        throw new Error(`${name} admitted ${admitted} of ${decisions}, expected ${expected}`)
      }
      return (decisions * 1_000_000) / spentUs
    },
  }
}

/** A contestant that awaits one answer after the other. */
export function awaiting(name: string, admit: Admit): Contestant {
  return deciding(name, async (users) => {
    let admitted = 0
    for (const user of users) if (await admit(`user-${user}`)) admitted++
    return admitted
  })
}
