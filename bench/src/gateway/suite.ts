import { atLeast, type Findings, type Latency, type Rate, resultOf } from '../report.ts'
import { interleave, type RoundOptions } from '../rounds.ts'
import { type Operation, requestsTo, type TimedContestant } from './load.ts'
import type { GatewayProcess } from './process.ts'
import type { SeedOptions } from './seed.ts'
import { startGateway } from './server.ts'

const NAMES: Readonly<Record<Operation, string>> = { read: 'read scores', upsert: 'upsert 20' }

interface Sizes {
  readonly rounds: RoundOptions
  readonly usual: SeedOptions
  readonly few: SeedOptions
  readonly many: SeedOptions
}

function sizesOf(quick: boolean, full: boolean): Sizes {
  if (quick) {
    const tiny = { players: 5, scoresEach: 20 }
    return { rounds: { rounds: 1, roundMs: 100, warmUpMs: 100 }, usual: tiny, few: tiny, many: tiny }
  }
  return {
    rounds: { rounds: 7, roundMs: 1_500, warmUpMs: 2_000 },
    usual: { players: 100, scoresEach: 100 },
    few: { players: 100, scoresEach: 1_000 },
    many: { players: full ? 10_000 : 1_000, scoresEach: 1_000 },
  }
}

/** Requests through the whole gateway: the cost of the quota, and whether more players cost more. */
export async function gateway(quick: boolean, full = false): Promise<Findings> {
  const { rounds, usual, few, many } = sizesOf(quick, full)
  const servers: GatewayProcess[] = []
  const start = async (seeded: SeedOptions, isMetered: boolean): Promise<string> => {
    const server = await startGateway({ ...seeded, isMetered })
    servers.push(server)
    return server.gatewayUrl
  }
  try {
    console.log(`gateway: a process of its own under load from this one; ${described(usual)}, then ${described(many)}`)
    const [bare, metered] = await Promise.all([start(usual, false), start(usual, true)])
    const [small, large] = quick ? [metered, metered] : await Promise.all([start(few, true), start(many, true)])
    const contests = (['read', 'upsert'] as const).flatMap((operation) => [
      [
        requestsTo(`${NAMES[operation]}, quota off`, bare, operation, usual),
        requestsTo(`${NAMES[operation]}, quota on`, metered, operation, usual),
      ],
      [
        requestsTo(`${NAMES[operation]}, ${described(few)}`, small, operation, few),
        requestsTo(`${NAMES[operation]}, one of ${described(many)}`, large, operation, many),
      ],
    ])
    const results: Rate[] = []
    for (const contest of contests) results.push(...(await interleave(contest, rounds)))
    const ratio = (index: number): number => resultOf(results, contests[index]?.[1]?.name ?? '').ratio
    return {
      results,
      latency: contests.flat().map(latencyOf),
      targets: [
        atLeast('read with quota, of the same without', 0.9, ratio(0)),
        atLeast('upsert with quota, of the same without', 0.9, ratio(2)),
        atLeast('read of one of many players, of one of few', 0.9, ratio(1)),
        atLeast('upsert of one of many players, of one of few', 0.9, ratio(3)),
      ],
    }
  } finally {
    for (const server of servers) await server.stop()
  }
}

function described({ players, scoresEach }: SeedOptions): string {
  return `${players.toLocaleString('en')} players x ${scoresEach.toLocaleString('en')} scores`
}

function latencyOf(contestant: TimedContestant): Latency {
  return { name: contestant.name, p99Ms: contestant.p99Ms() }
}
