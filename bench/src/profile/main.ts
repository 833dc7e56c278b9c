import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@scoregw/redis-server'
import autocannon from 'autocannon'
import { USER_HEADER } from '../http/apps.ts'
import { writeFlameGraph } from './flame-graph.ts'

/** The workloads. Each starts a process with the given flags, lets it run for some seconds, and waits for its end. */
const WORK: Readonly<Record<string, (seconds: number, flags: readonly string[]) => Promise<void>>> = {
  memory: (seconds, flags) => ended(started('./workloads.ts', ['memory', String(seconds)], flags)),

  async redis(seconds, flags) {
    const server = await startRedis()
    try {
      await ended(started('./workloads.ts', ['redis', String(seconds), String(server.port)], flags))
    } finally {
      await server.stop()
    }
  },

  async express(seconds, flags) {
    const child = started('../http-process.ts', ['http', 'Express', 'quota, draft-10 fields'], flags)
    const end = ended(child)
    const [port] = (await once(child, 'message')) as [number]
    const requests = Array.from({ length: 1_000 }, (_, index) => ({ headers: { [USER_HEADER]: `user-${index}` } }))
    await autocannon({ url: `http://127.0.0.1:${port}`, method: 'POST', connections: 32, duration: seconds, requests })
    child.disconnect()
    await end
  },
}

function started(file: string, args: readonly string[], flags: readonly string[]): ChildProcess {
  return fork(new URL(file, import.meta.url), args, { execArgv: [...process.execArgv, ...flags] })
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`the process that was profiled ended with ${code}`)
}

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, out: { type: 'string', default: 'bench/profiles' } },
  allowPositionals: true,
})
const [what = ''] = positionals
const work = Object.hasOwn(WORK, what) ? WORK[what] : undefined
const seconds = Number(values.seconds)
if (work === undefined || positionals.length !== 1 || !(seconds > 0)) {
  console.error(`usage: npm run profile -- ${Object.keys(WORK).join('|')} [--seconds N] [--out FOLDER]`)
  process.exit(1)
}
const folder = resolve(values.out)
mkdirSync(folder, { recursive: true })
const name = `${what}.cpuprofile`
await work(seconds, ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}`])
console.log(`CPU profile: ${join(folder, name)}`)
console.log(`Flame graph: ${writeFlameGraph(join(folder, name))}`)
