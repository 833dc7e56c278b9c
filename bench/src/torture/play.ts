// Plays one contestant: `play.ts NAME [CASE]`. It reports its findings to the parent, or prints them if there is none.

import { TORTURE_CASES, type TortureCase, type TortureFinding, torture } from '@scoregw/quota-testkit/torture'
import { startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { type Contestant, MEMORY, ON_REDIS } from './contestants.ts'
import { realTime, virtualTime } from './time.ts'

/** On Redis time passes by itself. */
const REDIS_WINDOW_MS = 2_000

/** In memory, time is virtual before the library is loaded. */
async function playInMemory(contestant: Contestant, only: readonly TortureCase[]): Promise<readonly TortureFinding[]> {
  const time = virtualTime()
  const limiterOf = await contestant.load()
  return torture(limiterOf(time), { only, subjects: contestant.subjects })
}

/** On Redis a failing case is repeated twice, because a busy machine may be late. */
async function playOnRedis(contestant: Contestant, only: readonly TortureCase[]): Promise<readonly TortureFinding[]> {
  const server = await startRedis()
  const client = new Redis({ port: server.port, enableAutoPipelining: true })
  const limiter = (await contestant.load())(realTime, client)
  const bytes = async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
  const options = { windowMs: REDIS_WINDOW_MS, subjects: contestant.subjects, bytes }
  const findings: TortureFinding[] = []
  for (const name of only) {
    let [finding] = await torture(limiter, { ...options, only: [name] })
    for (let again = 0; again < 2 && finding?.verdict === 'broken'; again++) {
      ;[finding] = await torture(limiter, { ...options, only: [name] })
    }
    if (finding !== undefined) findings.push(finding)
  }
  client.disconnect()
  await server.stop()
  return findings
}

const [, , name = '', given] = process.argv
const contestant = [...MEMORY, ...ON_REDIS].find((each) => each.name === name)
if (contestant === undefined) throw new Error(`no limiter is called "${name}"`)
const only = given === undefined ? TORTURE_CASES : [given as TortureCase]
const play = MEMORY.includes(contestant) ? playInMemory : playOnRedis
const findings = await play(contestant, only)
if (process.send === undefined) for (const finding of findings) console.log(finding)
else process.send(findings)
// Timers of libraries would keep the process alive.
process.disconnect?.()
setImmediate(() => process.exit())
