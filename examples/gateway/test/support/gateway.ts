import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManualClock, manualClock } from '@scoregw/quota-testkit'
import Database from 'libsql'
import { loadConfig } from '../../src/config/config.ts'
import { type Gateway, startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/log/logger.ts'
import type { Exchange } from './contract.ts'
import { type Check, checkAnswer, type Service } from './documents.ts'
import { whenDone } from './shared.ts'

/** One hour before the instant that the documentation's example names. */
export const START = Date.UTC(2026, 7, 6, 14, 6, 26)
export const HOUR_MS = 3_600_000

export const USER_TOKEN = 'gw_test-user-0123456789'
export const ADMIN_TOKEN = 'gw_test-admin-0123456789'

/** How long tests' gateways wait for Redis: longer than it takes on a machine that is busy with other tests. */
export const DEADLINE_MS = 1_000

/** Whatever a JSON text may hold: a test says what it expects. */
type Parsed = ReturnType<typeof JSON.parse>

/** An answer with its body parsed. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Parsed
}

export interface SendOptions {
  /** `null`: no credential. Default: the demo user's. */
  readonly token?: string | null
  readonly headers?: Record<string, string>
  /** A value to be sent as JSON, or text as it is. */
  readonly body?: unknown
  readonly text?: string | Uint8Array
}

export interface TestGateway {
  readonly gateway: Gateway
  readonly clock: ManualClock
  readonly dataDir: string
  /** What was logged so far. */
  readonly log: string[]
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  stop(): Promise<void>
}

export interface TestOptions {
  readonly dataDir?: string
  readonly env?: Record<string, string>
  readonly clock?: ManualClock
  readonly importGraceMs?: number
}

/** A folder that is gone when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  whenDone(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A gateway on a free port with a database file of its own. */
export async function testGateway({
  dataDir = tempDir(),
  env = {},
  clock = manualClock(START),
  importGraceMs,
}: TestOptions = {}): Promise<TestGateway> {
  const log: string[] = []
  const config = loadConfig({
    PORT: '0',
    SYNC_PORT: '0',
    CHARTS_PORT: '0',
    DATA_DIR: dataDir,
    // Some tests have two gateways on one folder, as several processes would be.
    DATA_DIR_SHARED: 'true',
    DEMO_USER_TOKEN: USER_TOKEN,
    DEMO_ADMIN_TOKEN: ADMIN_TOKEN,
    LOG_LEVEL: 'debug',
    REDIS_DEADLINE_MS: String(DEADLINE_MS),
    ...env,
  })
  const gateway = await startGateway(config, createLogger(config.LOG_LEVEL, { write: (line) => log.push(line) }), {
    clock,
    importGraceMs,
  })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= gateway.stop())
  whenDone(stop)
  const baseUrl = `http://127.0.0.1:${gateway.ports.gateway}`
  const send = sender(baseUrl)
  return { gateway, clock, dataDir, log, stop, send }
}

/**
 * Sends requests to an address; every answer has to be one that the service's document describes.
 *
 * @param of the service, or what its answers are held against
 */
export function sender(baseUrl: string, of: Service | Check = 'gateway'): TestGateway['send'] {
  const check = typeof of === 'string' ? (exchange: Exchange) => checkAnswer(of, exchange) : of
  return async (method, path, { token = USER_TOKEN, headers = {}, body, text } = {}) => {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    })
    const answer = await parsedBody(response)
    const { status } = response
    const { pathname } = new URL(response.url)
    await check({ method, path: pathname, status, headers: response.headers, body: answer })
    return { status, headers: response.headers, body: answer }
  }
}

async function parsedBody(response: Response): Promise<Parsed> {
  const text = await response.text()
  if (text === '') return undefined
  return response.headers.get('Content-Type')?.includes('json') === true ? JSON.parse(text) : text
}

/** What was counted and written down is requested by routes of its own, such as {@link usedOf}. */
const COUNTED = ['counter_rows', 'counter_layouts', 'counter_ids', 'usage_records', 'usage_days', 'error_counts']
/** Tables whose rows change with time and not with requests. */
const VOLATILE = ['counter_outcomes', ...COUNTED]

/** Every row of every table. */
export function databaseOf(dataDir: string): Record<string, unknown[]> {
  const file = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  try {
    const names = file.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[]
    const kept = names.map(({ name }) => name).filter((name) => !VOLATILE.includes(name))
    // When credentials were used is written by the clock.
    const rowsOf = (name: string): object[] =>
      (file.prepare(`select * from "${name}"`).all() as object[]).map((row) => ({ ...row, last_used_at: undefined }))
    return Object.fromEntries(kept.map((name) => [name, rowsOf(name)]))
  } finally {
    file.close()
  }
}

/** Used tokens by category in the personal 1-hour window. */
export async function usedOf({ send }: Pick<TestGateway, 'send'>): Promise<{ read: number; write: number }> {
  const { body } = await send('GET', '/me/quota')
  return { read: body.windows.read[0].used, write: body.windows.write[0].used }
}

/** A valid entry of an upsert; the sample chart has 524 notes. */
export const ENTRY = { musicId: 101, level: 3, achievement: 100.5, dxScore: 1500 }
