// Lets a keeper grow: `growth-process.ts KEEPER USERS`. It reports its call times to the parent.

import { type Keeper, keepers } from './memory/keepers.ts'
import type { Growth } from './report.ts'

const [, , keeper, users] = process.argv
const count = Number(users)
const keep = keepers[keeper as Keeper](count)
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
const growth: Omit<Growth, 'name'> = { users: count, p999Us: at(0.999) * 1_000, longestPauseMs: at(1) }
process.send?.(growth)
process.disconnect()
