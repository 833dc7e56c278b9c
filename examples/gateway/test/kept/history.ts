import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfig } from '../../src/config/config.ts'

/** Folders of data, one a version, as `internal/kept-data` has them. */
export const DATA: string = join(import.meta.dirname, 'data')

/** Where the gateway keeps its tables and counters. */
export type Kind = 'embedded' | 'postgres'
export const KINDS: readonly Kind[] = ['embedded', 'postgres']

/** What a gateway had after the history. */
export interface Kept {
  /** When the history was over, epoch milliseconds: the gateway and its database have the machine's clock. */
  readonly at: number
  readonly player: string
  /** Credentials that the gateway issued: they open nothing but this data. */
  readonly credentials: { readonly player: string; readonly bot: string; readonly chartKey: string }
  readonly sessionId: string
  /** The answer to {@link BUYING}. */
  readonly bought: unknown
  /** The player's windows when the history was over. */
  readonly windows: Windows
  /** The whole database as SQL. */
  readonly sql: string
}

export type Windows = Readonly<
  Record<
    'read' | 'write',
    readonly { readonly used: number; readonly resetAt: string | null; readonly scope: string }[]
  >
>

export const ADMIN_TOKEN = 'gw_kept-admin-0123456789'
const USER_TOKEN = 'gw_kept-user-0123456789'
const PLAYER = 'kept-player'
export const BUYING = { path: '/v1/charge', key: 'bought-before', body: { chargeId: 2 } } as const

/** The configuration of a gateway on kept data. */
export function keptConfig(kind: Kind, dataDir: string, databaseUrl: string | undefined): Config {
  return loadConfig({
    PORT: '0',
    SYNC_PORT: '0',
    CHARTS_PORT: '0',
    DATA_DIR: dataDir,
    DEMO_USER_TOKEN: USER_TOKEN,
    DEMO_ADMIN_TOKEN: ADMIN_TOKEN,
    ...(kind === 'postgres' ? { DATABASE_URL: databaseUrl, QUOTA_STORE: 'postgres' } : {}),
  })
}

/** Data of a version, as if it had been written a moment ago: instants move by the time that has passed since. */
export function readKept(version: string, kind: Kind, now: number): Kept {
  const text = readFileSync(join(DATA, version, `${kind}.json`), 'utf8')
  const { at } = JSON.parse(text) as Kept
  const moved = text.replace(/(?<![\w.-])1[78]\d{11}(?![\w.-])/g, (instant) => String(Number(instant) + now - at))
  const isoMoved = moved.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (instant) =>
    new Date(Date.parse(instant) + now - at).toISOString(),
  )
  return JSON.parse(isoMoved) as Kept
}

/** What a service answered; a test says what it expects of the body. */
interface Answer {
  readonly status: number
  readonly body: ReturnType<typeof JSON.parse>
}

/** Calls a service, with JSON. */
export async function call(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown },
): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, headers: { 'Content-Type': 'application/json', ...headers }, ...sent })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` })

/** Plays the history on a gateway. */
export async function play(url: string): Promise<Omit<Kept, 'sql'>> {
  async function expected<Body = unknown>(path: string, given: Parameters<typeof call>[1]): Promise<Body> {
    const { status, body } = await call(url + path, given)
    if (status >= 400) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return body as Body
  }
  const admin = bearer(ADMIN_TOKEN)
  await expected(`/admin/users/${PLAYER}`, { method: 'PUT', headers: admin, body: { name: 'Kept', qq: 31_001 } })
  await expected(`/admin/users/${PLAYER}/balance`, { headers: admin, body: { set: 20 } })
  const overrides = { write: { '1h': 150 } }
  await expected(`/admin/users/${PLAYER}/quota`, { method: 'PUT', headers: admin, body: { overrides } })
  const issue = async (path: string, body: object): Promise<string> =>
    (await expected<{ token: string }>(path, { headers: admin, body })).token
  const player = await issue(`/admin/users/${PLAYER}/tokens`, { label: 'kept' })
  const bot = await issue('/admin/bots', { name: 'kept' })
  const chartKey = await issue('/admin/chart-keys', { name: 'kept' })

  const user = bearer(player)
  const musicList = [{ musicId: 102, level: 3, achievement: 97.5, dxScore: 900 }]
  await expected('/v1/music/upsert', { headers: user, body: { musicList } })
  await expected('/v1/user/music', { headers: user })
  const key = { 'Idempotency-Key': BUYING.key }
  const bought = await expected(BUYING.path, { headers: { ...user, ...key }, body: BUYING.body })
  const session = { headers: user, body: { expected: 2 } }
  const { businessData } = await expected<{ businessData: { sessionId: string } }>('/v1/upsert/session', session)
  const { sessionId } = businessData
  await expected('/v1/music/upsert', { headers: user, body: { sessionId, musicList: [UPLOADED[0]] } })
  const { windows } = await expected<{ windows: Windows }>('/me/quota', { method: 'GET', headers: user })
  return { at: Date.now(), player: PLAYER, credentials: { player, bot, chartKey }, sessionId, bought, windows }
}

/** The scores of the open upload: the first came before the upgrade. */
export const UPLOADED = [
  { musicId: 10_104, level: 2, achievement: 88, dxScore: 700 },
  { musicId: 10_106, level: 3, achievement: 99, dxScore: 1_000 },
] as const
