import { createQuota, defaultPolicy, type Limit, type LimitTable, type Quota } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'
import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { type Batches, batches, one, skewed } from '../memory/users.ts'
import type { Contestant } from '../rounds.ts'

/** What an attack is made of, and what it is compared with. */
export const ATTACKS = {
  usual: 'quota: usual traffic',
  refused: 'quota: all refused',
  unseen: 'quota: subjects never seen before',
  ids: 'quota: ids never seen before',
  skewed: 'quota: a million subjects, few of them hot',
  one: 'quota: one subject from all callers',
} as const

type Attack = keyof typeof ATTACKS

/** Tokens a decision. */
const COST = 15
const OPERATION = 'music.upsert'

type Engine = Quota<typeof OPERATION>

/** Traffic of one kind; resolves to whether the answer was the one that such traffic is to get. */
interface Traffic {
  readonly limit: Limit
  readonly users: Batches
  ask(quota: Engine, user: number, count: number): Promise<boolean>
}

const admits = async (quota: Engine, subject: string): Promise<boolean> => {
  const { allowed, source } = await quota.consume({ subject, operation: OPERATION })
  return allowed && source === 'store'
}

const KINDS: Readonly<Record<Attack, Traffic>> = {
  usual: { limit: MAX_LIMIT, users: batches, ask: (quota, user) => admits(quota, `user-${user}`) },
  refused: {
    limit: COST - 1,
    users: batches,
    async ask(quota, user) {
      const { allowed, source } = await quota.consume({ subject: `user-${user}`, operation: OPERATION })
      return !allowed && source === 'store'
    },
  },
  unseen: { limit: MAX_LIMIT, users: batches, ask: (quota, _, count) => admits(quota, `new-${count}`) },
  ids: {
    limit: MAX_LIMIT,
    users: batches,
    async ask(quota, user, count) {
      const { status } = await quota.reserve({ subject: `user-${user}`, operation: OPERATION, id: `id-${count}` })
      return status === 'reserved'
    },
  },
  skewed: { limit: MAX_LIMIT, users: skewed, ask: (quota, user) => admits(quota, `user-${user}`) },
  one: { limit: MAX_LIMIT, users: one, ask: (quota, user) => admits(quota, `user-${user}`) },
}

/** Contestants, the usual traffic first, each with an engine, a connection and keys of its own. */
export function attacks(port: number, callers: number): { readonly contestants: Contestant[]; stop(): Promise<void> } {
  const engines = Object.entries(KINDS).map(([kind, traffic]) => ({
    name: ATTACKS[kind as Attack],
    traffic,
    ...engineOf(port, kind, traffic.limit),
  }))
  return {
    contestants: engines.map(({ name, traffic, quota }) => contestant(name, traffic, quota, callers)),
    async stop() {
      for (const { quota, client } of engines) {
        await quota.close()
        client.disconnect()
      }
    },
  }
}

function engineOf(port: number, prefix: string, personal: Limit): { readonly quota: Engine; readonly client: Redis } {
  const windows = (limit: Limit) => ({ '1h': limit, '5h': MAX_LIMIT, '1d': MAX_LIMIT })
  const layer = (limit: Limit) => ({ read: windows(limit), write: windows(limit) })
  const base: LimitTable = { personal: layer(personal), site: layer(MAX_LIMIT) }
  const operations = { [OPERATION]: { category: 'write', cost: COST } } as const
  const client = new Redis({ port })
  const store = redisStore({ client, prefix, deadlineMs: 1_000 })
  return { client, quota: createQuota({ policy: defaultPolicy({ operations, base }), store }) }
}

function contestant(name: string, { users, ask }: Traffic, quota: Engine, callers: number): Contestant {
  let count = 0
  return {
    name,
    async perSecondOver(durationMs) {
      const startedAt = performance.now()
      const before = count
      const call = async (): Promise<void> => {
        while (performance.now() - startedAt < durationMs) {
          const number = count++
          const batch = users[(number >>> 10) % users.length] as Uint32Array
          if (!(await ask(quota, batch[number & 1_023] as number, number))) {
            throw new Error(`${name}: an answer that such traffic is not to get`)
          }
        }
      }
      await Promise.all(Array.from({ length: callers }, call))
      return (count - before) / ((performance.now() - startedAt) / 1_000)
    },
  }
}
