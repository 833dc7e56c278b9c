import { QuotaError } from '@scoregw/quota'
import { Redis } from 'ioredis'
import type { Decider } from '../deciders/decider.ts'
import { progress } from '../print.ts'
import { quotasOn } from '../redis/deciders.ts'
import { scriptCalls } from '../redis/info.ts'
import { atMost, type Findings, type Instructions, resultOf } from '../report.ts'
import { FULL, NEW_IDS, NEW_SUBJECTS } from '../traffic/attacks.ts'
import { EIGHT_PRICES, MIXED, ORDINARY, USUAL } from '../traffic/ordinary.ts'
import type { Traffic } from '../traffic/traffic.ts'
import { countAlone, targetsAlone } from './alone.ts'
import { type CountedServer, startCounted } from './callgrind.ts'
import { countOnPostgres, targetsOnPostgres } from './postgres.ts'

/** Concurrent callers, whose decisions share a call or two. */
const CALLERS = 128
/** Callers of holds, which take a server longest. */
const HOLDING_CALLERS = 16
const DECISIONS = 1_536
const MOST_TRIES = 20
const USERS = 2_000

/** The most instructions per decision, by case. */
const TARGETS = [
  [USUAL, 38_000],
  [EIGHT_PRICES, 38_000],
  [FULL, 36_000],
  [NEW_SUBJECTS, 80_000],
  [NEW_IDS, 130_000],
  [MIXED, 85_000],
] as const

/** A decision's cost on the server in instructions, which other work on the machine does not change. */
export async function instructions(quick: boolean): Promise<Findings> {
  console.log('instructions: servers under callgrind')
  const traffic = [...ORDINARY, EIGHT_PRICES, FULL, NEW_SUBJECTS, NEW_IDS]
  const counted = await startCounted()
  const admin = new Redis({ port: counted.server.port })
  const found: Instructions[] = []
  try {
    progress('one caller')
    found.push(...(await countAlone(counted, quick)))
    for (const each of quick ? traffic.slice(0, 1) : traffic) {
      progress(each.name)
      found.push(await patiently(() => countOf(counted, admin, each, quick)))
    }
  } finally {
    admin.disconnect()
    await counted.stop()
  }
  found.push(...(await countOnPostgres(quick)))
  const targets = quick ? [] : [...targetsAlone(found), ...targetsOf(found), ...targetsOnPostgres(found)]
  return { results: [], instructions: found, targets }
}

function targetsOf(found: readonly Instructions[]): Findings['targets'] {
  return TARGETS.map(([{ name }, target]) => {
    return atMost(`instructions of redis-server, ${name}`, target, resultOf(found, `quota: ${name}`).perDecision)
  })
}

/**
 * A counted server is about fifty times slower, and may miss the store's deadline on a busy machine. Then it is
 * repeated once.
 */
async function patiently<T>(count: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await count()
    } catch (error) {
      if (!(error instanceof QuotaError) || error.code !== 'quota_unavailable' || tries === MOST_TRIES) throw error
    }
  }
}

/** Counts one kind of traffic, with a new engine on an empty server. */
async function countOf(counted: CountedServer, admin: Redis, traffic: Traffic, quick: boolean): Promise<Instructions> {
  await admin.flushall()
  const [decider] = (await quotasOn(counted.server.port, [traffic], 'q')) as [Decider]
  const callers = traffic.call === 'hold' ? HOLDING_CALLERS : CALLERS
  const decisions = quick ? callers : DECISIONS
  try {
    await ask(decider, callers, quick ? callers : USERS)
    const before = await scriptCalls(admin)
    const total = await counted.during(() => ask(decider, callers, decisions))
    const calls = (await scriptCalls(admin)) - before
    return { name: decider.name, perDecision: total / decisions, decisionsACall: decisions / calls }
  } finally {
    await decider.stop()
  }
}

let next = 0

/** Makes one decision per caller in the same event-loop tick. */
async function ask({ name, admit }: Decider, callers: number, decisions: number): Promise<void> {
  for (let left = decisions; left > 0; left -= callers) {
    const users = Array.from({ length: Math.min(callers, left) }, () => `user-${(next++ * 7) % USERS}`)
    const answers = await Promise.all(users.map(admit))
    if (!answers.every(Boolean)) throw new Error(`${name}: an unexpected answer`)
  }
}
