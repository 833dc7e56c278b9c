/** The seed of the sequence of users; the same for all contestants in all runs. */
const SEED = 20_260_806
export const USERS = 10_000
/** Decisions between two reads of the clock. */
const BATCH = 1_024
const BATCHES = 64

/**
 * Numbers of users, in batches. A contestant makes keys from them, so that each call has its own string, as callers'
 * keys are.
 */
export type Batches = readonly Uint32Array[]

const random = randomNumbers(SEED)

/** Users in a random order that is the same in every run. */
export const batches: Batches = batchesOf(() => Math.floor(random() * USERS))

/** A few hot users and many cold ones: the k-th of a million appears in proportion to 1 / k. */
export const skewed: Batches = batchesOf(() => Math.floor(1_000_000 ** random()) - 1)

/** A single user. */
export const one: Batches = batchesOf(() => 0)

export const description: string = `${USERS} users, seed ${SEED}`

/** The name of the n-th user. */
export function userAt(asked: Batches, n: number): string {
  const batch = asked[Math.floor(n / BATCH) % BATCHES] as Uint32Array
  return `user-${batch[n % BATCH]}`
}

/** The users' names, for contestants that reuse them. */
export const names: readonly string[] = batches.flatMap((users) => [...users].map((user) => `user-${user}`))

function batchesOf(next: () => number): Batches {
  return Array.from({ length: BATCHES }, () => Uint32Array.from({ length: BATCH }, next))
}

/** Numbers from 0 to 1 from a linear congruential generator, which is enough to spread users. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
