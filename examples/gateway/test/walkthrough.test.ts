import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { findProgram } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { tempDir } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { type Child, runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'
import { fishRecord, fishRecords, lxScore, lxScores, sourceServer } from './support/source-server.ts'
import { asShown, readWalkthrough, shown, type Walkthrough } from './support/walkthrough.ts'

/** What `npm start` prints, by the variable of the page that it goes into. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  GATEWAY: /^Score gateway +(\S+)$/m,
  SYNC: /^Score sync +(\S+)$/m,
  CHARTS: /^Chart preview +(\S+)$/m,
  PLAYER: /^Demo user +demo +(\S+)$/m,
  ADMIN: /^Demo admin +admin +(\S+)$/m,
  BOT: /^Demo bot +(\S+)$/m,
  KEY: /^Demo chart key +(\S+)$/m,
}

/** What the page's commands run. */
const CURL = {
  names: ['curl'],
  debianPackage: 'curl',
  packagedPath: 'usr/bin/curl',
  help: 'No curl for the commands of the walkthrough: install it.',
}

/** Sources that know of one score. */
async function sources(): Promise<Record<string, string>> {
  const clockwork = { achievements: 100.57, fc: 'fcp', fs: 'fsd' }
  const [lx, fish] = await Promise.all([
    sourceServer(lxScores(lxScore({ ...clockwork, id: 106, type: 'dx', dx_score: 2900 }))),
    sourceServer(fishRecords(fishRecord({ song_id: 10_106, type: 'DX', achievements: 100.5, dxScore: 2871 }))),
  ])
  return { LXNS_BASE_URL: `${lx.origin}/api/v0`, FISH_BASE_URL: fish.origin }
}

/** The variables of the page, as a reader would set them from what a process printed. */
function assignments({ variables }: Walkthrough, { stdout }: Child): string {
  const lines = [...variables].map(([name, value]) => {
    const printed = PRINTED[name]?.exec(stdout())?.[1] ?? ''
    return `${name}=${value.replace(/^http.*$|(?:gw|bt|mk)_\.\.\./, printed)}`
  })
  return lines.join('\n')
}

/** Does the steps in one shell, by each of the processes in turn, and gives what each step printed. */
async function walk(walkthrough: Walkthrough, children: readonly Child[]): Promise<string[]> {
  const cwd = tempDir()
  const settings = children.map((child) => assignments(walkthrough, child))
  const parts = walkthrough.steps.map(({ commands }, index) => {
    return `${settings[index % settings.length]}\n{\n${commands}\n} > out-${index}`
  })
  // Nothing but the page: no file that a shell reads when it starts, though it takes a socket for a login.
  const curl = await findProgram(CURL)
  const { BASH_ENV: _bashEnv, ENV: _env, ...own } = curl.env
  const env = { ...own, PATH: [dirname(curl.path), own.PATH].join(delimiter) }
  const { stderr } = await promisify(execFile)('bash', ['--norc', '--noprofile', '-uc', parts.join('\n')], { cwd, env })
  expect(stderr).toBe('')
  return walkthrough.steps.map((_, index) => readFileSync(join(cwd, `out-${index}`), 'utf8'))
}

function compare({ steps }: Walkthrough, outputs: readonly string[]): void {
  const at = (index: number): string => `docs/gateway/walkthrough.md:${steps[index]?.line}`
  const printed = steps.map((step, index) => [at(index), asShown(step, outputs[index] ?? '')])
  expect(printed).toEqual(steps.map((step, index) => [at(index), shown(step)]))
}

/** Every request that came in, as `GET /path`. */
function requestsOf(children: readonly Child[]): string[] {
  const lines = children.flatMap((child) => child.stderr().trim().split('\n'))
  const entries = lines.map((line) => JSON.parse(line) as { msg: string; method: string; path: string })
  return entries.filter(({ msg }) => msg === 'request').map(({ method, path }) => `${method} ${path}`)
}

/** Every operation of the three services, as a pattern of such a text. */
async function operationsOf(child: Child): Promise<Map<string, RegExp>> {
  const addresses = ['GATEWAY', 'SYNC', 'CHARTS'].map((name) => PRINTED[name]?.exec(child.stdout())?.[1])
  const documents = await Promise.all(
    addresses.map(async (each) => {
      return (await (await fetch(`${each}/openapi.json`)).json()) as { paths: Record<string, object> }
    }),
  )
  const operations = documents.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  )
  return new Map(operations.map((each) => [each, new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`)]))
}

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

describe('the walkthrough', () => {
  const walkthrough = readWalkthrough()

  it('the walkthrough shows the gateway’s responses for every operation', async () => {
    const child = await runGateway(tempDir(), { ...(await sources()), LOG_LEVEL: 'debug' })
    compare(walkthrough, await walk(walkthrough, [child]))
    const requests = requestsOf([child])
    const operations = await operationsOf(child)
    const missing = [...operations].filter(([, pattern]) => !requests.some((each) => pattern.test(each)))
    expect(missing.map(([operation]) => operation)).toEqual([])
    expect(operations.size).toBeGreaterThan(40)
  })

  it.runIf(isDeep && postgresTests && redisTests)(
    'the walkthrough shows the responses of two processes on PostgreSQL and Redis',
    async () => {
      const [postgres, redis] = await Promise.all([postgresServer(), redisServer()])
      const env = { ...(await sources()), DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url }
      // They also share the file of the demo's credentials.
      const dataDir = tempDir()
      const children = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
      compare(walkthrough, await walk(walkthrough, children))
      expect(children.map((child) => requestsOf([child]).length > 20)).toEqual([true, true])
    },
  )
})
