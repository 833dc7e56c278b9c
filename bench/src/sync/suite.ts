import { postgresTests, startPostgres } from '@scoregw/postgres-server'
import { atMost, type Findings, type Rate, resultOf, type Target } from '../report.ts'
import { type Contestant, interleave, median } from '../rounds.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { chunksOf } from './snapshot.ts'

const EMBEDDED = 'embedded database'
const POSTGRES = 'PostgreSQL'
const MIB = 1_048_576

/** Why goals may be missed, each after three attempts. */
const BECAUSE = {
  seconds:
    'As many rows a statement as others can wait for: of 50 rows it took longer, of 200 the event loop was blocked.',
  median: 'One statement of 100 rows is prepared and carried out in one piece; of 50 rows a snapshot took longer.',
  worst:
    'A collection of all garbage, 20 ms, falls into a piece of work: with 200, 100 and 50 rows in a statement alike.',
} as const

/** Full snapshots of 10,000 records in 10 chunks, from one bot: records per second, blocked event loop, memory. */
export async function sync(quick: boolean): Promise<Findings> {
  const size = quick ? { records: 200, chunks: 2 } : { records: 10_000, chunks: 10 }
  console.log(
    `sync: full snapshots of ${size.records} records in ${size.chunks} chunks, the gateway in its own process`,
  )
  const postgres = postgresTests ? await startPostgres({ durable: true }) : undefined
  const gateways = new Map<string, Gateway>([[EMBEDDED, await startGateway()]])
  try {
    if (postgres !== undefined) gateways.set(POSTGRES, await startGateway(await postgres.createDatabase()))
    const options = quick ? { rounds: 1, roundMs: 1, warmUpMs: 1 } : { rounds: 11, roundMs: 1, warmUpMs: 5_000 }
    const results = await interleave(
      [...gateways].map(([name, gateway]) => contestant(name, gateway, size)),
      options,
    )
    const targets: Target[] = []
    for (const [name, gateway] of gateways) {
      targets.push(...(await targetsOf(name, gateway, resultOf(results, name), size, quick ? 2 : 100)))
    }
    return { results, targets }
  } finally {
    for (const gateway of gateways.values()) await gateway.stop()
    await postgres?.stop()
  }
}

interface Size {
  readonly records: number
  readonly chunks: number
}

/** Each snapshot belongs to a new player, so every record is a new row. */
function contestant(name: string, gateway: Gateway, size: Size): Contestant {
  let player = 10_100
  return {
    name,
    async perSecondOver(durationMs) {
      let records = 0
      let elapsedMs = 0
      while (elapsedMs < durationMs) {
        const bodies = chunksOf({ ...size, qq: ++player, number: 0 })
        const startedAt = performance.now()
        for (const body of bodies) await gateway.sync(body)
        elapsedMs += performance.now() - startedAt
        records += size.records
      }
      return records / (elapsedMs / 1000)
    },
  }
}

async function targetsOf(name: string, gateway: Gateway, rate: Rate, size: Size, snapshots: number): Promise<Target[]> {
  const send = async (number: number): Promise<void> => {
    for (const body of chunksOf({ ...size, qq: 10_002, number })) await gateway.sync(body)
  }
  const early = Math.ceil(snapshots / 10)
  for (let number = 0; number < early; number++) await send(number)
  const heapBefore = await gateway.heapBytes()
  const delaysMs: number[] = []
  for (let number = early; number < snapshots; number++) {
    await gateway.longestDelayMs()
    await send(number)
    delaysMs.push(await gateway.longestDelayMs())
  }
  const growthMib = ((await gateway.heapBytes()) - heapBefore) / MIB
  return [
    atMost(`${name}: a snapshot, seconds`, 1.5, size.records / rate.perSecond, BECAUSE.seconds),
    atMost(`${name}: event loop blocked at most, ms, median`, 50, median(delaysMs), BECAUSE.median),
    atMost(`${name}: event loop blocked at most, ms, worst`, 50, Math.max(...delaysMs), BECAUSE.worst),
    atMost(`${name}: heap after ${snapshots} snapshots beside after ${early}, MiB`, 5, Math.max(0, growthMib)),
  ]
}
