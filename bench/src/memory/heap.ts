import { resultFrom } from '../child.ts'
import type { Growth, HeapUse } from '../report.ts'
import { KEEPERS, type Keeper } from './keepers.ts'

const NAMES: Readonly<Record<Exclude<Keeper, 'keys'>, string>> = {
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
    const bytesPerUser = (await measured<number>('heap', keeper, users)) / users
    if (keeper === 'keys') keyBytes = bytesPerUser
    else uses.push({ name: NAMES[keeper], bytesPerUser, keyBytes, besideKeyBytes: bytesPerUser - keyBytes })
  }
  return uses
}

/** The effect of growing to so many users, each keeper in a separate process. */
export async function growths(users: number): Promise<Growth[]> {
  const found: Growth[] = []
  for (const keeper of ['quota', 'array'] as const) {
    found.push({ name: NAMES[keeper], ...(await measured<Omit<Growth, 'name'>>('growth', keeper, users)) })
  }
  return found
}

function measured<T>(what: 'heap' | 'growth', keeper: Keeper, users: number): Promise<T> {
  return resultFrom('keeper-process.ts', [what, keeper, String(users)], ['--expose-gc', '--max-old-space-size=8192'])
}
