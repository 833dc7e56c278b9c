import { resultFrom } from '../child.ts'
import type { HeapUse } from '../report.ts'
import { KEEPERS, type Keeper } from './keepers.ts'

export const NAMES: Readonly<Record<Exclude<Keeper, 'keys'>, string>> = {
  quota: 'quota: memoryStore, one category',
  later: 'quota: the same after the first window ended',
  array: 'Map of arrays',
  'express-rate-limit': 'express-rate-limit: three MemoryStores',
  'rate-limiter-flexible': 'rate-limiter-flexible: three limiters',
}

/** Bytes per user with three windows, each keeper in a separate process. */
export async function heapUses(users: number): Promise<HeapUse[]> {
  let keyBytes = 0
  const uses: HeapUse[] = []
  for (const keeper of KEEPERS) {
    const bytesPerUser = (await resultFrom<number>('heap-process.ts', [keeper, String(users)], ['--expose-gc'])) / users
    if (keeper === 'keys') keyBytes = bytesPerUser
    else uses.push({ name: NAMES[keeper], bytesPerUser, keyBytes, besideKeyBytes: bytesPerUser - keyBytes })
  }
  return uses
}
