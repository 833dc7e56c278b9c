import { QuotaError } from '@scoregw/quota'
import { EXIT, type ExitCode } from '../cli-error.ts'
import { type Io, type Paint, painted } from '../io.ts'
import { readPolicy } from '../policy-file.ts'
import { redisAddress } from '../redis/address.ts'
import { connectionError, connectRedis } from '../redis/connect.ts'
import { engineOn, storeError } from '../redis/engine.ts'
import { plain, several } from '../text.ts'
import type { ServerFinding } from './finding.ts'
import { examineHttp, httpAddress } from './http.ts'
import { clock, latency, scripts } from './measures.ts'
import { judgeInfo, parseInfo } from './redis-server.ts'
import { storedKeys } from './stored-keys.ts'
import { storedValues } from './stored-values.ts'

export interface DoctorOptions {
  readonly prefix: string
  /** The deadline of each answer, in seconds. */
  readonly timeout: number
  readonly policy?: string | undefined
  readonly json?: boolean
}

/** Checks whether a server is suitable for counters. */
export async function doctor(
  url: string,
  { prefix, timeout, policy: file, json = false }: DoctorOptions,
  io: Io,
): Promise<ExitCode> {
  const { shown, findings } = /^https?:/.test(url)
    ? await findingsByHttp(url, timeout, io)
    : await findingsByConnection(url, { prefix, timeout, policy: file }, io)
  const faults = findings.filter(({ level }) => level === 'fault').length
  const code = faults > 0 ? EXIT.found : EXIT.ok
  if (json) {
    io.out(`${JSON.stringify({ server: shown, ok: faults === 0, findings }, undefined, 2)}\n`)
    return code
  }
  for (const finding of findings) io.out(line(finding, io))
  const warnings = findings.filter(({ level }) => level === 'warning').length
  io.out(`${shown}: ${several(faults, 'fault')}, ${several(warnings, 'warning')}\n`)
  return code
}

interface Examined {
  /** The server's address, without credentials. */
  readonly shown: string
  readonly findings: readonly ServerFinding[]
}

async function findingsByHttp(url: string, timeout: number, io: Io): Promise<Examined> {
  const address = httpAddress(url, io.env)
  return { shown: new URL(url).origin, findings: await examineHttp(address, timeout * 1_000) }
}

async function findingsByConnection(
  url: string,
  { prefix, timeout, policy: file }: Omit<DoctorOptions, 'json'>,
  io: Io,
): Promise<Examined> {
  const address = redisAddress(url, io.env)
  const policy = file === undefined ? undefined : await readPolicy(file)
  const connection = await connectRedis(address, timeout * 1_000)
  const { redis } = connection
  const quota = policy && engineOn(connection, policy, prefix)
  try {
    const { findings: keys, owners } = await storedKeys(connection.servers(), prefix, policy, io.signal)
    const findings = [
      ...judgeInfo(parseInfo(await redis.info())),
      await scripts(redis),
      await clock(() => redis.time()),
      await latency(() => redis.ping()),
      ...keys,
      ...(quota === undefined ? [] : await storedValues(quota, owners)),
    ]
    return { shown: address.shown, findings }
  } catch (error) {
    throw error instanceof QuotaError ? storeError(address, error) : connectionError(address, error)
  } finally {
    await quota?.close()
    connection.close()
  }
}

const PAINTS: Readonly<Record<ServerFinding['level'], Paint>> = { ok: 'green', warning: 'yellow', fault: 'red' }

function line({ level, about, message, mend }: ServerFinding, io: Io): string {
  const head = `${painted(io, PAINTS[level], level.padEnd(7))} ${about.padEnd(11)} ${plain(message, 300)}\n`
  return mend === undefined ? head : `${head}${' '.repeat(20)}${painted(io, 'dim', plain(mend, 200))}\n`
}
