import { createQuota, defaultPolicy, type Limit, type LimitTable, type SyncQuota } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import type { Contestant } from '../rounds.ts'
import { deciding } from './contestant.ts'

/** Tokens a decision. */
export const COST = 15

/** An engine with one operation of {@link COST} tokens; `site` has room for everything. */
export function engine(personal: Limit): SyncQuota<'music.upsert'> {
  const windows = (limit: Limit) => ({ '1h': limit, '5h': MAX_LIMIT, '1d': MAX_LIMIT })
  const layer = (limit: Limit) => ({ read: windows(limit), write: windows(limit) })
  const base: LimitTable = { personal: layer(personal), site: layer(MAX_LIMIT) }
  const operations = { 'music.upsert': { category: 'write', cost: COST } } as const
  return createQuota({ policy: defaultPolicy({ operations, base }) })
}

export function ours(): Contestant[] {
  return [consumeSync(), consumeSyncRefused(), consume()]
}

function consumeSync(): Contestant {
  const quota = engine(MAX_LIMIT)
  return deciding('quota: consumeSync', (users) => {
    let admitted = 0
    for (const subject of users) if (quota.consumeSync({ subject, operation: 'music.upsert' }).allowed) admitted++
    return admitted
  })
}

function consumeSyncRefused(): Contestant {
  const quota = engine(COST - 1)
  return deciding(
    'quota: consumeSync, all refused',
    (users) => {
      let admitted = 0
      for (const subject of users) if (quota.consumeSync({ subject, operation: 'music.upsert' }).allowed) admitted++
      return admitted
    },
    'none',
  )
}

function consume(): Contestant {
  const quota = engine(MAX_LIMIT)
  return deciding('quota: await consume', async (users) => {
    let admitted = 0
    for (const subject of users) if ((await quota.consume({ subject, operation: 'music.upsert' })).allowed) admitted++
    return admitted
  })
}
