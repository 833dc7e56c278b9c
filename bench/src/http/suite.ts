import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { atLeast, type Findings, resultOf } from '../report.ts'
import { type Contestant, interleave } from '../rounds.ts'
import { APPS, type AppName, USER_HEADER } from './apps.ts'

const CONNECTIONS = 32
const USERS = 1_000
/** How often the load looks whether its time is over. */
const SAMPLE_MS = 100

interface Served {
  readonly contestant: Contestant
  readonly child: ChildProcess
}

/** Requests answered by Express, each app in a process of its own and the load from this one. */
export async function http(quick: boolean): Promise<Findings> {
  console.log(`http: ${CONNECTIONS} connections, ${USERS} users, a server process under load from another`)
  const served = await Promise.all((Object.keys(APPS) as AppName[]).map(serve))
  try {
    const options = quick ? { rounds: 1, roundMs: 100, warmUpMs: 100 } : { rounds: 9, roundMs: 1_500, warmUpMs: 3_000 }
    const contestants = served.map(({ contestant }) => contestant)
    const results = await interleave(contestants, options)
    const ours = resultOf(results, 'quota-express: six counters' satisfies AppName)
    return { results, targets: [atLeast('quota-express, of bare Express', 0.9, ours.ratio)] }
  } finally {
    for (const { child } of served) child.disconnect()
  }
}

async function serve(name: AppName): Promise<Served> {
  const child = fork(new URL('../http-process.ts', import.meta.url), [name], { execArgv: process.execArgv })
  const [port] = (await once(child, 'message')) as [number]
  return { child, contestant: { name, perSecondOver: (durationMs) => load(name, port, durationMs) } }
}

/** Requests answered in a second; an error when any was not answered with 200. */
async function load(name: AppName, port: number, durationMs: number): Promise<number> {
  const requests = Array.from({ length: USERS }, (_, index) => ({ headers: { [USER_HEADER]: `user-${index}` } }))
  const { non2xx, errors, timeouts, duration, ...result } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    method: 'POST',
    connections: CONNECTIONS,
    duration: durationMs / 1000,
    sampleInt: SAMPLE_MS,
    requests,
  })
  if (non2xx + errors + timeouts > 0) {
    throw new Error(`${name}: ${non2xx} refused, ${errors} errors, ${timeouts} timed out`)
  }
  return result['2xx'] / duration
}
