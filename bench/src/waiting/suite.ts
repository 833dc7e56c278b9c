import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { Child } from '../child.ts'
import { scriptCalls } from '../redis/info.ts'
import { atLeast, atMost, type Findings, type QueueUse } from '../report.ts'
import { inTurn, median, quantile } from '../rounds.ts'
import { versioned } from '../versions.ts'
import { MEMORY, OF_SLOTS, PER_SECOND, REDIS, SLOTS, WORK_MS } from './queues.ts'

const CALLERS = 1_000
const PROCESSES = 4
/** Callers per process: 100 for 20 slots. */
const CALLERS_OF_SLOTS = 25
/** The longest wait if the limit is always used. */
const IDEAL_MS = (1_000 * CALLERS) / PER_SECOND

/** One process' figures. */
export interface Seen {
  /** When each work started, in milliseconds of one clock. */
  readonly starts: readonly number[]
  readonly waits: readonly number[]
  readonly cpuUs: number
}

/**
 * 1,000 callers wait for a limit of 200 per second in each library's queue: in one process, and in four on one Redis.
 */
export async function waiting(quick: boolean): Promise<Findings> {
  console.log(`waiting: ${CALLERS} callers, ${PER_SECOND} a second; ${PROCESSES} processes on Redis; ${SLOTS} slots`)
  const queues = [
    ...(await inMemory(quick)),
    ...(await onRedis('redis', Object.keys(REDIS), quick)),
    ...(await onRedis('slots', Object.keys(OF_SLOTS), quick)),
  ]
  return { results: [], queues, targets: quick ? [] : targetsOf(queues) }
}

async function inMemory(quick: boolean): Promise<QueueUse[]> {
  const seen = await inTurn({ what: 'memory', names: Object.keys(MEMORY), rounds: quick ? 1 : 3 }, (name) =>
    seenBy(['memory', name], { processes: 1, callers: quick ? PER_SECOND : CALLERS, seconds: 0, port: 0 }),
  )
  return seen.map(([name, runs]) => ({
    where: 'memory',
    name: named(name),
    cpuUs: median(runs.map(({ cpuUs, starts }) => cpuUs / starts.length)),
    lateP99Ms: median(runs.map(({ starts }) => lateP99Ms(starts))),
  }))
}

/** How much later than possible the last 1 % started. */
function lateP99Ms(starts: readonly number[]): number {
  const [first = Number.NaN] = starts
  const late = starts.map((at, nr) => at - first - 1_000 * Math.floor(nr / PER_SECOND))
  return quantile(late, 0.99)
}

async function onRedis(where: 'redis' | 'slots', names: readonly string[], quick: boolean): Promise<QueueUse[]> {
  const seconds = quick ? 2 : 8
  const server = await startRedis()
  const admin = new Redis({ port: server.port })
  const callers = where === 'slots' ? CALLERS_OF_SLOTS : CALLERS / PROCESSES
  try {
    const seen = await inTurn({ what: where, names, rounds: quick ? 1 : 2 }, async (name) => {
      await admin.flushall()
      const run = await seenBy([where, name], { processes: PROCESSES, callers, seconds, port: server.port }, () =>
        admin.config('RESETSTAT'),
      )
      return { ...run, scripts: await scriptCalls(admin) }
    })
    return seen.map(([name, runs]) => ({
      where,
      name: named(name),
      cpuUs: median(runs.map(({ cpuUs, starts }) => cpuUs / starts.length)),
      use: median(runs.map(({ starts }) => (where === 'slots' ? useOfSlots(starts, seconds) : useOfLimit(starts)))),
      scripts: median(runs.map(({ scripts, starts }) => scripts / starts.length)),
      waitP99Ms: median(runs.map(({ waits }) => quantile(waits, 0.99))),
    }))
  } finally {
    admin.disconnect()
    await server.stop()
  }
}

/** The used share of the limit, from the first full second to the last. */
function useOfLimit(starts: readonly number[]): number {
  const sorted = starts.toSorted((a, b) => a - b)
  const full = Math.floor((sorted.length - 1) / PER_SECOND)
  return (1_000 * full) / ((sorted[full * PER_SECOND] ?? Number.NaN) - (sorted[0] ?? Number.NaN))
}

function useOfSlots(starts: readonly number[], seconds: number): number {
  return (starts.length * WORK_MS) / (SLOTS * seconds * 1_000)
}

interface Load {
  readonly processes: number
  /** Callers per process. */
  readonly callers: number
  readonly seconds: number
  readonly port: number
}

/** Adds up the figures of fresh processes that begin together. */
async function seenBy(
  [where, name]: readonly [where: string, name: string],
  { processes, callers, seconds, port }: Load,
  begins?: () => Promise<unknown>,
): Promise<Seen> {
  const args = [where, name, String(callers), String(seconds), String(port)]
  const children = Array.from({ length: processes }, () => new Child('waiting-process.ts', args))
  try {
    await Promise.all(children.map((child) => child.next()))
    await begins?.()
    const all = await Promise.all(children.map((child) => child.answerTo<Seen>('begin')))
    return {
      starts: all.flatMap(({ starts }) => starts),
      waits: all.flatMap(({ waits }) => waits),
      cpuUs: all.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
    }
  } finally {
    for (const child of children) child.stop()
  }
}

/** A library's name with its version. Ours is from this repository. */
function named(name: string): string {
  return name === 'quota' ? name : versioned(name)
}

function targetsOf(queues: readonly QueueUse[]): Findings['targets'] {
  const ours = (where: QueueUse['where']): QueueUse =>
    queues.find((each) => each.where === where && each.name.startsWith('quota')) as QueueUse
  const [memory, redis, slots] = [ours('memory'), ours('redis'), ours('slots')]
  return [
    atMost('memory: microseconds of a caller', 50, memory.cpuUs),
    atMost('memory: p99 beyond the ideal, milliseconds', 60, memory.lateP99Ms as number),
    atLeast('Redis: use of the limit', 0.99, redis.use as number),
    atMost('Redis: scripts of an admission', 0.2, redis.scripts as number),
    atMost('Redis: p99 of the wait, of the ideal', 1.44, (redis.waitP99Ms as number) / IDEAL_MS),
    atLeast('slots: use by four processes in order', 0.7, slots.use as number),
  ]
}
