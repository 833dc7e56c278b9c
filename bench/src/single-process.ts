// One limiter in a separate process: `single-process.ts memory|redis NAME LIMIT CPU_MS [PORT]`. It reports the processor
// time per decision to the parent. A limit of 1 is used up first, so that every answer must be a refusal; otherwise none
// may be.
import { Redis } from 'ioredis'
import { batches, USERS } from './memory/users.ts'
import { redisCpuUs } from './redis/info.ts'
import { cpuUs } from './rounds.ts'
import { MEMORY, REDIS } from './single/limiters.ts'

const [, , where = '', name = '', limit = '', cpuMs = '', port = '0'] = process.argv
const make = (where === 'redis' ? REDIS : MEMORY)[name]
if (make === undefined) throw new Error(`no ${name} in ${where}`)
const limiter = make(Number(port), Number(limit))
const isRefused = Number(limit) === 1
const CALLERS = 64
let batch = 0

/** Each caller sends its next request as soon as it is answered. */
async function decide(): Promise<number> {
  const users = batches[batch++ % batches.length] as Uint32Array
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < users.length) {
      const answer = limiter(`user-${users[next++]}`)
      if ((typeof answer === 'boolean' ? answer : await answer) === isRefused)
        throw new Error(`${name}: a wrong answer`)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return users.length
}

/** Decides for some processor time, so that a busy machine warms up equally. */
async function decideFor(ms: number): Promise<number> {
  const untilUs = cpuUs() + ms * 1_000
  let decisions = 0
  do decisions += await decide()
  while (cpuUs() < untilUs)
  return decisions
}

if (isRefused) for (let user = 0; user < USERS; user++) await limiter(`user-${user}`)
const admin = where === 'redis' ? new Redis({ port: Number(port) }) : undefined
await decideFor(Number(cpuMs) / 2)
const beforeUs = { node: cpuUs(), redis: admin && (await redisCpuUs(admin)) }
const decisions = await decideFor(Number(cpuMs))
const nodeUs = cpuUs() - beforeUs.node
const redisUs = admin && (await redisCpuUs(admin)) - (beforeUs.redis as number)
process.send?.({ nodeUs: nodeUs / decisions, redisUs: (redisUs ?? 0) / decisions }, () => process.exit())
