import { startRedis } from '@scoregw/redis-server'
import { resultFrom } from '../child.ts'
import { cpuOfRounds, type Size } from '../http/served.ts'
import { atLeast, atMost, type Comparison, type Findings } from '../report.ts'
import { inTurn, median, ratioOf } from '../rounds.ts'
import { versioned } from '../versions.ts'
import { CASES, LIMITERS, nameOf } from './apps.ts'
import { MEMORY, REDIS } from './limiters.ts'

/** The number of callers by key, as in a service of some size. */
const USERS = 1_000
const NO_LIMIT = 10 ** 9

const SIZE: Size = { sittings: 3, rounds: 4, turns: 8, each: 16, warmUp: 150 }
const QUICK: Size = { sittings: 1, rounds: 1, turns: 1, each: 5, warmUp: 5 }

/** Our contestants, in memory and on Redis. */
const AWAITED = 'quota: await consume'
const SYNC = 'quota: consumeSync'

/**
 * One limit compared with those of other libraries: in memory, on Redis, and as a framework's limiter. Processor time,
 * in fresh processes that take turns.
 */
export async function single(quick: boolean): Promise<Findings> {
  console.log('single: one limit of an hour each; processor time of the process that decides')
  const all: Comparison[] = [...(await inMemory(quick)), ...(await onRedis(quick))]
  for (const framework of quick ? (['Hono'] as const) : (['Express', 'Fastify', 'Hono'] as const)) {
    all.push(...(await inFramework(framework, quick ? QUICK : SIZE)))
  }
  return { results: [], compared: all, targets: quick ? [] : targetsOf(all) }
}

/** Microseconds per decision. */
interface Spent {
  readonly nodeUs: number
  readonly redisUs: number
}

interface SpentOptions {
  readonly limit: number
  readonly quick: boolean
  /** Of the Redis server. */
  readonly port?: number
}

/** Each limiter in a fresh process, in turn, round by round. */
async function spentBy(
  where: 'memory' | 'redis',
  names: readonly string[],
  { limit, quick, port = 0 }: SpentOptions,
): Promise<ReadonlyMap<string, readonly Spent[]>> {
  const turns = { what: `${where}, limit ${limit}`, names, rounds: quick ? 1 : 7 }
  const run = (name: string) =>
    resultFrom<Spent>('single-process.ts', [where, name, String(limit), quick ? '20' : '700', String(port)])
  return new Map(await inTurn(turns, run))
}

async function inMemory(quick: boolean): Promise<Comparison[]> {
  const free = await spentBy('memory', Object.keys(MEMORY), { limit: NO_LIMIT, quick })
  const others = Object.keys(MEMORY).filter((name) => name !== AWAITED && name !== SYNC)
  // The store of express-rate-limit only counts.
  const deciding = [AWAITED, SYNC, 'rate-limiter-flexible']
  const refused = await spentBy('memory', deciding, { limit: 1, quick })
  return [
    ...others.map((other) => pairOf('memory, await consume', free, [AWAITED, other])),
    ...others.map((other) => pairOf('memory, consumeSync', free, [SYNC, other])),
    pairOf('memory, await consume, refused', refused, [AWAITED, 'rate-limiter-flexible']),
    pairOf('memory, consumeSync, refused', refused, [SYNC, 'rate-limiter-flexible']),
  ]
}

async function onRedis(quick: boolean): Promise<Comparison[]> {
  const others = Object.keys(REDIS).filter((name) => name !== AWAITED)
  const found: Comparison[] = []
  for (const limit of [NO_LIMIT, 1]) {
    const server = await startRedis()
    try {
      const spent = await spentBy('redis', Object.keys(REDIS), { limit, quick, port: server.port })
      const what = limit === 1 ? 'Redis, 64 callers, refused' : 'Redis, 64 callers'
      found.push(...others.map((other) => pairOf(what, spent, [AWAITED, other])))
    } finally {
      await server.stop()
    }
  }
  return found
}

async function inFramework(framework: keyof typeof LIMITERS, size: Size): Promise<Comparison[]> {
  const other = LIMITERS[framework]
  const cases = CASES.flatMap((is) =>
    ['quota', other].map((limiter) => ({ name: nameOf(limiter, is), status: is.endsWith('refused') ? 429 : 200 })),
  )
  const apps = [{ name: 'bare', status: 200 }, ...cases].map(({ name, status }) => ({
    name,
    load: { users: USERS, status },
  }))
  const rounds = await cpuOfRounds({ suite: 'single', framework }, apps, size)
  const usOf = (name: string): number[] => rounds[apps.findIndex((app) => app.name === name)] ?? []
  return CASES.map((is) => ({
    what: `${framework}, ${is}`,
    other: versioned(other),
    bareUs: median(usOf('bare')),
    ...compared(usOf(nameOf(other, is)), usOf(nameOf('quota', is))),
  }))
}

function pairOf(
  what: string,
  spent: ReadonlyMap<string, readonly Spent[]>,
  [ours, other]: readonly [ours: string, other: string],
): Comparison {
  const [own = [], others = []] = [spent.get(ours), spent.get(other)]
  const node = (each: readonly Spent[]): number[] => each.map(({ nodeUs }) => nodeUs)
  const redis = (each: readonly Spent[]): number => median(each.map(({ redisUs }) => redisUs))
  return {
    what,
    other: versioned(other),
    ...compared(node(others), node(own)),
    ...(redis(own) > 0 ? { otherRedisUs: redis(others), oursRedisUs: redis(own) } : {}),
  }
}

function compared(other: readonly number[], ours: readonly number[]) {
  const ratios = other.map((us, round) => us / (ours[round] ?? Number.NaN))
  return { otherUs: median(other), oursUs: median(ours), ...ratioOf(ratios) }
}

/** Our target speed, as a multiple of each framework's usual limiter. */
const GOALS = { Express: 1.25, Fastify: 1, Hono: 0.95 }

function targetsOf(all: readonly Comparison[]): Findings['targets'] {
  const found = (what: string): Comparison => all.find((each) => each.what === what) as Comparison
  return [
    ...Object.entries(GOALS).map(([framework, goal]) =>
      atLeast(`${framework}, by address, of its own limiter`, goal, found(`${framework}, by address`).ratio),
    ),
    atMost('nanoseconds of await consume', 250, found('memory, await consume').oursUs * 1_000),
    atMost('nanoseconds of consumeSync', 180, found('memory, consumeSync').oursUs * 1_000),
  ]
}
