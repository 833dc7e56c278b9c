import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { type RedisStoreOptions, redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { MANY, type OurQuota, oneLimit, requestOf, sixLimits } from '../fleet/limits.ts'
import { atMost, type Findings, type Instructions, resultOf } from '../report.ts'
import type { CountedServer } from './callgrind.ts'

const USERS = 50
/** Calls whose instructions are counted. */
const CALLS = 200
/** A counted server is slow, and a busy machine slower. */
const DEADLINE_MS = 60_000

/** Makes the n-th call. Resolves to whether it was answered as expected. */
type Call = (n: number) => Promise<boolean>

/** Calls of one caller, each made when the one before is answered. */
interface Case {
  readonly call: Call
  close?(): Promise<void>
}

type Make = (store: RedisStoreOptions) => Case

const user = (n: number): string => `user-${n % USERS}`
const newUser = (n: number): string => `new-${n}`

const names = ['1h', '5h', '1d'].flatMap((per) => [`personal-write-${per}`, `site-write-${per}`])
const unlimited = Object.fromEntries(names.map((name) => [name, MANY]))

/** Each with the most instructions of the server per call. */
const CASES: readonly (readonly [name: string, most: number | undefined, make: Make])[] = [
  ['INCRBY of one counter', undefined, ({ client }) => ({ call: async (n) => (await incremented(client, n)) > 0 })],
  [
    'rate-limiter-flexible: one limit',
    undefined,
    ({ client }) => {
      const limiter = new RateLimiterRedis({ storeClient: client, points: MANY, duration: 3_600 })
      return { call: async (n) => (await limiter.consume(user(n))).remainingPoints > 0 }
    },
  ],
  ['quota: one limit', 62_000, (on) => consuming(oneLimit(redisStore(on)), user)],
  ['quota: one limit, refused', 62_000, (on) => consuming(oneLimit(redisStore(on), 1), user, false)],
  ['quota: one limit, a new subject', 110_000, (on) => consuming(oneLimit(redisStore(on)), newUser)],
  ['quota: two rows of three limits', 98_000, (on) => consuming(sixLimits(redisStore(on)), user)],
  ['quota: two rows of three limits, refused', 98_000, (on) => consuming(sixLimits(redisStore(on), 1), user, false)],
  ['quota: two rows of three limits, a new subject', 165_000, (on) => consuming(sixLimits(redisStore(on)), newUser)],
  [
    'quota: two rows of six limits, of which three count',
    115_000,
    (on) => {
      const quota = createQuota({ policy: scoreGatewayPolicy({ limits: unlimited }), store: redisStore(on) })
      const call: Call = async (n) => (await quota.consume({ subject: user(n), operation: 'write' })).source === 'store'
      return { call, close: () => quota.close() }
    },
  ],
  [
    'quota: a status of six limits',
    80_000,
    ofSix((quota) => async (n) => (await quota.status(user(n))).limits.hour !== undefined),
  ],
  [
    'quota: a reservation with a new id',
    180_000,
    ofSix((quota) => async (n) => {
      return (await quota.reserve({ ...requestOf(user(n)), id: `id-${n}` })).status === 'reserved'
    }),
  ],
  [
    'quota: a hold and its commit',
    400_000,
    ofSix((quota) => async (n) => {
      const hold = await quota.reserve({ ...requestOf(user(n)), ttlMs: 3_600_000 })
      await hold.commit()
      return hold.status === 'reserved'
    }),
  ],
]

function ofSix(callOn: (quota: OurQuota) => Call): Make {
  return (on) => {
    const quota = sixLimits(redisStore(on))
    return { call: callOn(quota), close: () => quota.close() }
  }
}

function consuming(quota: OurQuota, subject: (n: number) => string, isAdmitted = true): Case {
  return {
    async call(n) {
      const { allowed, source } = await quota.consume(requestOf(subject(n)))
      // The first of each user is admitted whatever the limit.
      return source === 'store' && (allowed === isAdmitted || n < USERS)
    },
    close: () => quota.close(),
  }
}

async function incremented(client: unknown, n: number): Promise<number> {
  return (client as Redis).incrby(user(n), 1)
}

/** What a server pays for calls of one caller. A process of a fleet has seldom more in flight. */
export async function countAlone({ server, during }: CountedServer, quick: boolean): Promise<Instructions[]> {
  const found: Instructions[] = []
  const calls = quick ? 5 : CALLS
  for (const [name, , make] of CASES) {
    const client = new Redis({ port: server.port })
    await client.flushall()
    const { call, close } = make({ client, prefix: 'alone', deadlineMs: DEADLINE_MS })
    const made = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) if (!(await call(n))) throw new Error(`${name}: an unexpected answer`)
    }
    try {
      await made(0, USERS)
      const total = await during(() => made(USERS, USERS + calls))
      found.push({ name: aloneName(name), perDecision: total / calls, decisionsACall: 1 })
    } finally {
      await close?.()
      client.disconnect()
    }
  }
  return found
}

export function targetsAlone(found: readonly Instructions[]): Findings['targets'] {
  return CASES.flatMap(([name, most]) => {
    const { perDecision } = resultOf(found, aloneName(name))
    return most === undefined ? [] : [atMost(`instructions of redis-server, ${aloneName(name)}`, most, perDecision)]
  })
}

function aloneName(name: string): string {
  return `${name}, 1 caller`
}
