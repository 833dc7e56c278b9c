// Measures the heap of one keeper: `heap-process.ts KEEPER USERS`, the bytes go to the parent.

import { floorRow } from './memory/floor.ts'
import type { Keeper } from './memory/heap.ts'
import { engine } from './memory/ours.ts'
import { expressWindows, flexibleLimiters } from './memory/peers.ts'
import { garbageCollector } from './rounds.ts'

/** Users kept before the count begins. */
const WARM_UP_USERS = 1_000

/** Keeps something for a user. */
type Keep = (user: string) => unknown

const keepers: Readonly<Record<Keeper, (users: number) => Keep>> = {
  keys(users) {
    // The array itself is there before the count begins: what is counted is the text alone.
    const keys = new Array<string>(users + WARM_UP_USERS)
    let next = 0
    return (user) => {
      keys[next++] = user
    }
  },
  quota() {
    const quota = engine(10 ** 11)
    return (subject) => quota.consumeSync({ subject, operation: 'music.upsert' })
  },
  array() {
    const rows = new Map<string, number[]>()
    return (user) => rows.set(user, floorRow())
  },
  'express-rate-limit'() {
    const stores = expressWindows()
    return (user) => Promise.all(stores.map((store) => store.increment(user)))
  },
  'rate-limiter-flexible'() {
    const limiters = flexibleLimiters('personal')
    return (user) => Promise.all(limiters.map((limiter) => limiter.consume(user)))
  },
}

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
const keep = keepers[keeper as Keeper](count)
// What comes with the first users, compiled code for one, is not theirs.
for (let index = 0; index < WARM_UP_USERS; index++) await keep(`warm-${index}`)
const before = await bytesInUse()
for (let index = 0; index < count; index++) await keep(`user-${index}`)
const after = await bytesInUse()
process.send?.(after - before)
// One more call, so that nothing kept is garbage before the count is over.
await keep('user-0')
process.exit()
