import { argv } from 'node:process'
import { manualClock } from '@scoregw/quota-testkit'
import { postgresStore, sqliteStore } from '../../src/index.ts'
import { poolOf } from './pool.ts'
import { connectTo } from './sqlite.ts'
import { quotaOn } from './work.ts'

/** Takes a hold of three units by a clock that stands still, sends when it ends, and lives until it is killed. */
const [, , place = '', now = '', ttlMs = ''] = argv
const clock = manualClock(Number(now))
const store = place.startsWith('postgres')
  ? postgresStore({ pool: poolOf(place), testClock: clock, deadlineMs: 5_000 })
  : sqliteStore({ database: connectTo(place), clock, deadlineMs: 5_000 })
const cost = { requests: 2, tokens: 30, money: 400 }
const held = await quotaOn(store, 100).reserve({ subject: 'a', operation: 'work', cost, ttlMs: Number(ttlMs) })
process.send?.(held.status === 'reserved' ? held.endsAt : held.status)
setInterval(() => undefined, 60_000)
