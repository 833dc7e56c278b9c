/** Where the sequence of users begins; the same for all contestants of all runs. */
const SEED = 20_260_806
const USERS = 10_000
/** Decisions between two looks at the clock. */
const BATCH = 1_024
const BATCHES = 64

/** Users in a random order that is the same in every run, in batches. */
export const batches: readonly (readonly string[])[] = (() => {
  const random = randomNumbers(SEED)
  const keys = Array.from({ length: USERS }, (_, index) => `user-${index}`)
  const next = (): string => keys[Math.floor(random() * USERS)] as string
  return Array.from({ length: BATCHES }, () => Array.from({ length: BATCH }, next))
})()

export const description: string = `${USERS} users, seed ${SEED}`

/** Numbers from 0 to 1: a linear congruential generator, plenty for spreading users. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
