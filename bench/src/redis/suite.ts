import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { contestantOf, type Decider, decide, named, ratesOf, stopping } from '../deciders/decider.ts'
import { description, names as USERS } from '../memory/users.ts'
import { progress } from '../print.ts'
import { atLeast, atMost, type Findings, type Rate, resultOf, type ServerUse } from '../report.ts'
import { cpuUs, interleave, type RoundOptions } from '../rounds.ts'
import { ATTACKS } from '../traffic/attacks.ts'
import { ORDINARY, THREE_PRICES } from '../traffic/ordinary.ts'
import { deciders, floor, OURS, quotasOn } from './deciders.ts'
import { redisCpuUs, usedBytes } from './info.ts'

const CALLERS = [1, 64, 512]
/** Callers of ordinary traffic. */
const ORDINARY_CALLERS = [64, 512]
/** Callers while processor time is measured. */
const CPU_CALLERS = 512

/** Why goals are missed. */
const BECAUSE = {
  lone: 'the call of a script, its numbers, the time, reads and writes are two thirds of what a lone call costs the server',
  rate: 'calls are shared, but each decision reads, compares and writes two rows of three windows, where INCRBY counts one number',
  server: 'about half is one SET a row; hashes would save it, but forget by the field from Redis 7.4 on alone',
  node: 'less than an INCRBY costs its client; a fifth is the engine, the rest promises and the bytes of calls and answers',
  unseen:
    'a row that is made is looked for once more and written whole with an expiry, twice the instructions of one that is there',
  ids: 'a record for each id is one key more, looked for and written with an expiry: 2.7 times the instructions; a reservation is a handle and a nonce besides',
} as const

/** The same for attacks. */
const OF_ATTACKS: Readonly<Record<string, string>> = {
  'quota: subjects never seen before': BECAUSE.unseen,
  'quota: ids never seen before': BECAUSE.ids,
}

/** Decisions by one Redis with six counters each, their cost on the server, and the bytes per user. */
export async function redis(quick: boolean): Promise<Findings> {
  console.log(`redis: six counters a decision, ${description}, one process and one server`)
  const server = await startRedis()
  const admin = new Redis({ port: server.port })
  const all = await deciders(server.port)
  try {
    // Creates every user's counters before the measurement.
    for (const decider of all) await decide(decider, 64, { users: new Set(quick ? USERS.slice(0, 100) : USERS) })
    const options = quick ? { rounds: 1, roundMs: 20, warmUpMs: 20 } : { rounds: 11, roundMs: 250, warmUpMs: 500 }
    const results = [...(await ratesOf(all, CALLERS, options)), ...(await attacked(server.port, options))]
    const ordinary = await ordinarily(server.port, options)
    const use: ServerUse[] = []
    for (const decider of all) use.push(await serverUse(admin, decider, quick))
    const rate = (callers: number) => resultOf(results, named(OURS, callers))
    const own = resultOf(use, OURS)
    const targets = [
      atLeast('a lone caller, of INCRBY', 0.85, rate(1).ratio, BECAUSE.lone),
      atLeast('64 callers, of INCRBY', 1.5, rate(64).ratio, BECAUSE.rate),
      atLeast('512 callers, of INCRBY', 2, rate(512).ratio, BECAUSE.rate),
      atMost(`microseconds of redis-server a decision, ${CPU_CALLERS} callers`, 3, own.redisUs, BECAUSE.server),
      atMost(`microseconds of Node a decision, ${CPU_CALLERS} callers`, 5, own.nodeUs, BECAUSE.node),
      atMost('bytes per user and category', 200, own.bytesPerUser),
      ...ATTACKS.slice(1).map((traffic) => {
        const name = `quota: ${traffic.name}`
        return atLeast(`${name}, of the usual`, 0.5, resultOf(results, name).ratio, OF_ATTACKS[name])
      }),
      ...[0.95, 1.2].map((target, index) => {
        const name = named(`quota: ${THREE_PRICES.name}`, ORDINARY_CALLERS[index] ?? 0)
        return atLeast(`${name}, of INCRBY`, target, resultOf(ordinary, name).ratio)
      }),
    ]
    return { results, ordinary, server: use, targets }
  } finally {
    for (const decider of all) await decider.stop()
    admin.disconnect()
    await server.stop()
  }
}

/** Each kind of attack, compared with usual traffic. */
async function attacked(port: number, options: RoundOptions): Promise<Rate[]> {
  progress('attacks')
  const engines = await quotasOn(port, ATTACKS, 'a')
  const contestants = engines.map((decider) => ({ ...contestantOf(decider, CPU_CALLERS), name: decider.name }))
  return stopping(engines, () => interleave(contestants, options))
}

/** Each ordinary policy compared with an `INCRBY`. */
async function ordinarily(port: number, options: RoundOptions): Promise<Rate[]> {
  const engines = [await floor(port), ...(await quotasOn(port, ORDINARY, 'o'))]
  return stopping(engines, () => ratesOf(engines, ORDINARY_CALLERS, options))
}

/** Processor time per decision in both processes, and the server's memory per new user. */
async function serverUse(admin: Redis, decider: Decider, quick: boolean): Promise<ServerUse> {
  const [durationMs, users] = quick ? [50, 500] : [1_500, 50_000]
  // The previous measurement emptied the server. Every user's counters must exist again.
  await decide(decider, 64, { users: new Set(quick ? USERS.slice(0, 100) : USERS) })
  const [before, own] = [await redisCpuUs(admin), cpuUs()]
  const { decisions } = await decide(decider, CPU_CALLERS, { durationMs })
  const nodeUs = cpuUs() - own
  const redisUs = (await redisCpuUs(admin)) - before
  await admin.flushdb()
  const empty = await usedBytes(admin)
  // Keys of up to 24 characters, as typical user ids are.
  const added = new Set(Array.from({ length: users }, (_, index) => `user-of-the-directory-${index}`.slice(-24)))
  await decide(decider, CPU_CALLERS, { users: added })
  const bytesPerUser = ((await usedBytes(admin)) - empty) / added.size
  await admin.flushdb()
  return { name: decider.name, redisUs: redisUs / decisions, nodeUs: nodeUs / decisions, bytesPerUser }
}
