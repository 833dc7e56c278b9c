// Measures one keeper: `keeper-process.ts heap|growth KEEPER USERS`. It reports the bytes of its heap, or its call times, to
// the parent.

import { type Keeper, keepers } from './memory/keepers.ts'
import type { Growth } from './report.ts'
import { garbageCollector } from './rounds.ts'

/** Users that are kept before the heap is measured. They also bring other memory, such as compiled code. */
const WARM_UP_USERS = 1_000

const [, , what, name, users] = process.argv
const count = Number(users)
const keep = keepers[name as Keeper](count + WARM_UP_USERS)
process.send?.(what === 'heap' ? await heap() : growth())
// One more call, so that nothing kept becomes garbage before the count.
await keep('user-0')
process.exit()

async function heap(): Promise<number> {
  for (let index = 0; index < WARM_UP_USERS; index++) await keep(`warm-${index}`)
  const before = await bytesInUse()
  for (let index = 0; index < count; index++) await keep(`user-${index}`)
  return (await bytesInUse()) - before
}

/** Bytes in use after collecting garbage until the number stays the same. */
async function bytesInUse(): Promise<number> {
  const collectGarbage = garbageCollector()
  for (let pass = 0; pass < 3; pass++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function growth(): Omit<Growth, 'name'> {
  // Outside the heap that is being measured.
  const durationsMs = new Float32Array(count)
  for (let index = 0; index < count; index++) {
    const user = `user-${index}`
    const startedAt = performance.now()
    keep(user)
    durationsMs[index] = performance.now() - startedAt
  }
  durationsMs.sort()
  const at = (share: number): number => durationsMs[Math.round(share * (count - 1))] ?? Number.NaN
  return { users: count, p999Us: at(0.999) * 1_000, longestPauseMs: at(1) }
}
