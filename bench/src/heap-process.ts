// Measures the heap of one keeper: `heap-process.ts KEEPER USERS`. It reports the bytes to the parent.

import { type Keeper, keepers } from './memory/keepers.ts'
import { garbageCollector } from './rounds.ts'

/** Users that are kept before the count begins. */
const WARM_UP_USERS = 1_000

const collectGarbage = garbageCollector()

/** Bytes in use after collecting garbage until the number stays the same. */
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
// The first users also bring other memory, such as compiled code, which should not count.
for (let index = 0; index < WARM_UP_USERS; index++) await keep(`warm-${index}`)
const before = await bytesInUse()
for (let index = 0; index < count; index++) await keep(`user-${index}`)
const after = await bytesInUse()
process.send?.(after - before)
// One more call, so that nothing kept becomes garbage before the count.
await keep('user-0')
process.exit()
