// Measures the heap of one keeper: `heap-process.ts KEEPER USERS`, the bytes go to the parent.

import { type Keeper, keepers } from './memory/keepers.ts'
import { garbageCollector } from './rounds.ts'

/** Users kept before the count begins. */
const WARM_UP_USERS = 1_000

const collectGarbage = garbageCollector()

/** Bytes in use after garbage was collected until nothing more comes of it. */
async function bytesInUse(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const [, , keeper, users] = process.argv
const count = Number(users)
const keep = keepers[keeper as Keeper](count + WARM_UP_USERS)
// What comes with the first users, compiled code for one, is not theirs.
for (let index = 0; index < WARM_UP_USERS; index++) await keep(`warm-${index}`)
const before = await bytesInUse()
for (let index = 0; index < count; index++) await keep(`user-${index}`)
const after = await bytesInUse()
process.send?.(after - before)
// One more call, so that nothing kept is garbage before the count is over.
await keep('user-0')
process.exit()
