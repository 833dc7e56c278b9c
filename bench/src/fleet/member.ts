// One process of a fleet: `member.ts BACKEND ADDRESS`. For each turn that it's sent, it has one call in flight.
import { names as USERS } from '../memory/users.ts'
import { cpuUs } from '../rounds.ts'
import type { Done, Limiter, Turn } from './backend.ts'
import { BACKENDS } from './backends.ts'

const [, , name = '', address = ''] = process.argv
const backend = BACKENDS[name]
if (backend === undefined) throw new Error(`no server ${name}: ${Object.keys(BACKENDS).join(', ')}`)
const { limiters } = backend
const opened = new Map<string, Limiter>()
// Each process begins with another user.
let next = process.pid

async function play(turn: Turn): Promise<Done> {
  const { name } = turn
  try {
    const limiter = opened.get(name) ?? (await limiters[name]?.(address))
    if (limiter === undefined) throw new Error(`no limiter ${name}`)
    opened.set(name, limiter)
    const [startedAt, startUs] = [performance.now(), cpuUs()]
    let decisions = 0
    const isOver = (): boolean =>
      'decisions' in turn ? decisions >= turn.decisions : performance.now() - startedAt >= turn.durationMs
    for (; !isOver(); decisions++) {
      await limiter.decide(USERS[next++ % USERS.length] as string)
    }
    return { decisions, nodeUs: cpuUs() - startUs }
  } catch (error) {
    return { error: `${name}: ${error}` }
  }
}

process.on('message', async (turn: Turn) => process.send?.(await play(turn)))
process.once('disconnect', async () => {
  for (const limiter of opened.values()) await limiter.close()
})
process.send?.('ready')
