// One process of a fleet: `fleet-process.ts OPTIONS`. It reports its contestants, then the rate of each turn it is sent.
import { contestantOf, type Decider } from './deciders/decider.ts'
import type { FleetOptions, Turn, TurnAnswer } from './fleet.ts'
import { floor as redisFloor, quotasOn as redisQuotas } from './redis/deciders.ts'
import { floor as postgresFloor, quotasOn as postgresQuotas } from './sql/on-postgres.ts'
import { THREE_PRICES, USUAL } from './traffic/ordinary.ts'

const TRAFFIC = [USUAL, THREE_PRICES]

const { kind, address, callers } = JSON.parse(process.argv[2] ?? '') as FleetOptions
const deciders = await (kind === 'redis' ? onRedis(Number(address)) : onPostgres(JSON.parse(address)))
process.on('message', async ({ contestant, durationMs }: Turn) =>
  process.send?.(await answerTo(contestant, durationMs)),
)
process.once('disconnect', async () => {
  for (const decider of deciders) await decider.stop()
})
process.send?.(deciders.map(({ name }) => name))

async function onRedis(port: number): Promise<Decider[]> {
  return [await redisFloor(port), ...(await redisQuotas(port, TRAFFIC, 'f'))]
}

async function onPostgres([plain = '', ...urls]: readonly string[]): Promise<Decider[]> {
  return [postgresFloor(plain), ...(await postgresQuotas(urls, TRAFFIC))]
}

async function answerTo(contestant: number, durationMs: number): Promise<TurnAnswer> {
  try {
    return { perSecond: await contestantOf(deciders[contestant] as Decider, callers).perSecondOver(durationMs) }
  } catch (error) {
    return { error: String(error) }
  }
}
