import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { atLeast, type Findings, type Rate, resultOf, type Target } from '../report.ts'
import { type Contestant, interleave } from '../rounds.ts'
import { CONTESTANTS, type ContestantName, FRAMEWORKS, USER_HEADER } from './apps.ts'

const CONNECTIONS = 32
const USERS = 1_000
/** How often the load looks whether its time is over. */
const SAMPLE_MS = 100

interface Served {
  readonly contestant: Contestant
  readonly child: ChildProcess
}

/**
 * Requests that a framework answers in a second of its process' processor time, each app in a process of its own and the
 * load from this one. The wall's clock says little where both share processors.
 */
export async function http(quick: boolean): Promise<Findings> {
  console.log(`http: ${CONNECTIONS} connections, ${USERS} users; requests a second of the server's processor time`)
  const found: { readonly results: Rate[]; readonly targets: Target[] } = { results: [], targets: [] }
  const frameworks = Object.keys(FRAMEWORKS)
  // Whether the suite runs is seen by one of them.
  for (const framework of quick ? frameworks.slice(0, 1) : frameworks) {
    const results = await measured(framework, quick)
    found.results.push(...results)
    if (!quick) found.targets.push(...targetsOf(framework, results))
  }
  return found
}

async function measured(framework: string, quick: boolean): Promise<Rate[]> {
  const served: Served[] = []
  const names = quick ? CONTESTANTS.slice(0, 2) : CONTESTANTS
  try {
    served.push(...(await Promise.all(names.map((name) => serve(framework, name)))))
    const options = quick ? { rounds: 1, roundMs: 100, warmUpMs: 100 } : { rounds: 10, roundMs: 700, warmUpMs: 1_500 }
    return await interleave(
      served.map(({ contestant }) => contestant),
      options,
    )
  } finally {
    for (const { child } of served) child.disconnect()
  }
}

function targetsOf(framework: string, results: readonly Rate[]): Target[] {
  const ratioOf = (name: ContestantName): number => resultOf(results, nameOf(framework, name)).ratio
  const withFields = ratioOf('quota, draft-10 fields')
  const limiter = ratioOf('its own limiter, one limit')
  return [
    atLeast(`${framework}, draft-10 fields, of bare`, 0.87, withFields),
    atLeast(`${framework}, no fields, of bare`, 0.93, ratioOf('quota, no fields')),
    atLeast(`${framework}, draft-10 fields, of its own limiter`, 1, withFields / limiter),
  ]
}

function nameOf(framework: string, name: ContestantName): string {
  return `${framework}: ${name}`
}

async function serve(framework: string, name: ContestantName): Promise<Served> {
  const child = fork(new URL('../http-process.ts', import.meta.url), [framework, name], { execArgv: process.execArgv })
  const [port] = (await once(child, 'message')) as [number]
  const title = nameOf(framework, name)
  const perSecondOver = async (durationMs: number): Promise<number> => {
    const before = await cpuUsOf(child)
    const answered = await load(title, port, durationMs)
    return (answered * 1_000_000) / ((await cpuUsOf(child)) - before)
  }
  return { child, contestant: { name: title, perSecondOver } }
}

/** Microseconds that a process has kept a processor busy. */
async function cpuUsOf(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message')
  child.send('cpu')
  const [cpuUs] = (await answer) as [number]
  return cpuUs
}

/** Requests that were answered; an error when any was not answered with 200. */
async function load(title: string, port: number, durationMs: number): Promise<number> {
  const requests = Array.from({ length: USERS }, (_, index) => ({ headers: { [USER_HEADER]: `user-${index}` } }))
  const { non2xx, errors, timeouts, ...result } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    method: 'POST',
    connections: CONNECTIONS,
    duration: durationMs / 1000,
    sampleInt: SAMPLE_MS,
    requests,
  })
  if (non2xx + errors + timeouts > 0) {
    throw new Error(`${title}: ${non2xx} refused, ${errors} errors, ${timeouts} timed out`)
  }
  return result['2xx']
}
