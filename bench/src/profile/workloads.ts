// Works for some seconds and ends: `workloads.ts memory|redis SECONDS [PORT]`. This is the code that a profile shows.
import { createQuota, defaultPolicy, type Quota } from '@scoregw/quota'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'

const USERS = 10_000
/** Decisions between two reads of the clock. */
const BATCH = 10_000
/** Concurrent callers of Redis. */
const CALLERS = 64

/** Six counters that never refuse. */
const windows = { '1h': 10 ** 11, '5h': 10 ** 11, '1d': 10 ** 11 }
const layer = { read: windows, write: windows }
const policy = defaultPolicy({ base: { personal: layer, site: layer } })

let next = 0
function asked(): { readonly subject: string; readonly operation: 'write' } {
  return { subject: `user-${next++ % USERS}`, operation: 'write' }
}

function memory(untilMs: number): void {
  const quota = createQuota({ policy })
  while (performance.now() < untilMs) for (let times = 0; times < BATCH; times++) quota.consumeSync(asked())
}

async function redis(untilMs: number, port: number): Promise<void> {
  const client = new Redis({ port, enableAutoPipelining: true })
  const quota: Quota<'read' | 'write'> = createQuota({ policy, store: redisStore({ client }) })
  const call = async (): Promise<void> => {
    while (performance.now() < untilMs) await quota.consume(asked())
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  await quota.close()
  client.disconnect()
}

const [, , what, seconds, port] = process.argv
const untilMs = performance.now() + Number(seconds) * 1_000
if (what === 'memory') memory(untilMs)
else await redis(untilMs, Number(port))
