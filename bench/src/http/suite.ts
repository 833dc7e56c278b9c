import { atLeast, type Findings, type Rate, resultOf, type Target } from '../report.ts'
import { median, ratioOf } from '../rounds.ts'
import { CONTESTANTS, type ContestantName, FRAMEWORKS } from './apps.ts'
import { BECAUSE } from './because.ts'
import { CONNECTIONS, cpuOfRounds, type Size } from './served.ts'

const USERS = 1_000

const SIZE: Size = { sittings: 3, rounds: 6, turns: 10, each: 20, warmUp: 500 }
const QUICK: Size = { sittings: 1, rounds: 1, turns: 1, each: 5, warmUp: 5 }

/**
 * Requests that a framework answers per second of its process's processor time. Each app has a separate process, and
 * the load comes from this one. Wall-clock time says little if both share processors. A turn of about 20 ms meets the
 * same interference as the next one, so many short alternating turns form a round.
 */
export async function http(quick: boolean): Promise<Findings> {
  console.log(`http: ${CONNECTIONS} connections, ${USERS} users; requests a second of the server's processor time`)
  const found: { readonly results: Rate[]; readonly targets: Target[] } = { results: [], targets: [] }
  const frameworks = Object.keys(FRAMEWORKS)
  // One framework is enough to check that the suite runs.
  for (const framework of quick ? frameworks.slice(0, 1) : frameworks) {
    const results = await measured(framework, quick ? CONTESTANTS.slice(0, 2) : CONTESTANTS, quick ? QUICK : SIZE)
    found.results.push(...results)
    if (!quick) found.targets.push(...targetsOf(framework, results))
  }
  return found
}

async function measured(framework: string, names: readonly ContestantName[], size: Size): Promise<Rate[]> {
  const apps = names.map((name) => ({ name, load: { users: USERS, status: 200 } }))
  const cpuUs = await cpuOfRounds({ suite: 'http', framework }, apps, size)
  return names.map((name, index) => {
    const own = cpuUs[index] ?? []
    const ratios = own.map((us, round) => (cpuUs[0]?.[round] ?? Number.NaN) / us)
    return { name: nameOf(framework, name), perSecond: 1_000_000 / median(own), ...ratioOf(ratios) }
  })
}

/** With the default fields, compared with the bare framework. */
const GOALS: Readonly<Record<string, number>> = { Express: 0.9, Fastify: 0.84, Hono: 0.82 }

function targetsOf(framework: string, results: readonly Rate[]): Target[] {
  const ratioOf = (name: ContestantName): number => resultOf(results, nameOf(framework, name)).ratio
  const withFields = ratioOf('quota, draft-10 fields')
  const limiter = ratioOf('its own limiter, one limit')
  const because = BECAUSE[framework]
  return [
    atLeast(`${framework}, draft-10 fields, of bare`, GOALS[framework] ?? 1, withFields, because?.fields),
    atLeast(`${framework}, no fields, of bare`, 0.93, ratioOf('quota, no fields'), because?.metering),
    atLeast(`${framework}, draft-10 fields, of its own limiter`, 1, withFields / limiter, because?.limiter),
  ]
}

function nameOf(framework: string, name: ContestantName): string {
  return `${framework}: ${name}`
}
