import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadPostgres } from '@scoregw/kept-data'
import { postgresTests } from '@scoregw/postgres-server'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startGateway } from '../src/gateway.ts'
import { createLogger } from '../src/log/logger.ts'
import {
  ADMIN_TOKEN,
  BUYING,
  bearer,
  call,
  DATA,
  type Kept,
  type Kind,
  keptConfig,
  readKept,
  UPLOADED,
  type Windows,
} from './kept/history.ts'
import { tempDir } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'

interface Started extends Kept {
  readonly url: string
  readonly services: { readonly gateway: string; readonly sync: string; readonly charts: string }
  readonly log: readonly string[]
}

/** The newest gateway on data of a version. */
async function startOn(version: string, kind: Kind): Promise<Started> {
  const dataDir = tempDir()
  const postgres = kind === 'postgres' ? await postgresServer() : undefined
  const databaseUrl = await postgres?.createDatabase()
  const kept = readKept(version, kind, Date.now())
  if (databaseUrl !== undefined) await loadPostgres(databaseUrl, kept.sql)
  else loadSqlite(dataDir, kept.sql)
  const log: string[] = []
  const logger = createLogger('info', { write: (line) => log.push(line) })
  const gateway = await startGateway(keptConfig(kind, dataDir, databaseUrl), logger)
  onTestFinished(() => gateway.stop())
  return { ...kept, url: gateway.addresses.gateway, services: gateway.addresses, log }
}

function loadSqlite(dataDir: string, sql: string): void {
  mkdirSync(dataDir, { recursive: true })
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  try {
    // Tables come in the order of their making, which may refer to later ones.
    file.exec(`pragma foreign_keys = off; ${sql}`)
  } finally {
    file.close()
  }
}

async function windowsOf({ url, credentials }: Started): Promise<Windows> {
  const { status, body } = await call(`${url}/me/quota`, { method: 'GET', headers: bearer(credentials.player) })
  expect(status).toBe(200)
  return body.windows as Windows
}

const usedOf = ({ read, write }: Windows): readonly number[][] =>
  [read, write].map((all) => all.map(({ used }) => used))

describe.each(readdirSync(DATA))('a gateway on data of %s', (version) => {
  describe.each<Kind>(['embedded', 'postgres'])('%s', (kind) => {
    const isOn = kind === 'embedded' || postgresTests

    it.runIf(isOn)('the gateway continues with earlier counters and the player’s limits', async () => {
      const started = await startOn(version, kind)
      const now = await windowsOf(started)
      expect(now).toEqual(started.windows)
      expect(now.write[0]).toMatchObject({ limit: 150, used: 40, held: 15 })
      expect(now.read[0]).toMatchObject({ used: 4 })
      expect(started.log.filter((line) => /"level":[45]0/.test(line))).toEqual([])

      const headers = bearer(started.credentials.player)
      expect((await call(`${started.url}/v1/user/music`, { headers })).status).toBe(200)
      const [[read]] = usedOf(await windowsOf(started)) as [number[]]
      expect(read).toBe(8)
    })

    it.runIf(isOn)('the gateway continues an open upload', async () => {
      const started = await startOn(version, kind)
      const headers = bearer(started.credentials.player)
      const { url, sessionId } = started
      const part = { sessionId, musicList: [UPLOADED[1]] }
      expect(await call(`${url}/v1/music/upsert`, { headers, body: part })).toMatchObject({
        status: 200,
        body: { businessData: { session: { receivedMusicCount: 2, tokensHeld: 15 } } },
      })
      expect(await call(`${url}/v1/upsert/check?sync=1`, { headers, body: { sessionId } })).toMatchObject({
        status: 200,
        body: { businessData: { status: 'done', uploadedMusicCount: 2, tokensCharged: 15 } },
      })
      const { body } = await call(`${url}/v1/user/music`, { headers })
      expect(body.businessData.userMusicDetailList).toHaveLength(3)
      expect(usedOf(await windowsOf(started))[1]).toEqual(started.windows.write.map(({ used }) => used))
    })

    it.runIf(isOn)('the gateway accepts earlier credentials and keys', async () => {
      const { url, services, credentials, bought } = await startOn(version, kind)
      const key = { 'Idempotency-Key': BUYING.key }
      const again = { headers: { ...bearer(credentials.player), ...key }, body: BUYING.body }
      expect(await call(url + BUYING.path, again)).toEqual({ status: 200, body: bought })
      const [bot, charts] = await Promise.all([
        call(`${services.sync}/api/bot/player/31001`, { method: 'GET', headers: { 'Bot-Token': credentials.bot } }),
        call(`${services.charts}/api/v1/charts`, { method: 'GET', headers: { 'X-API-Key': credentials.chartKey } }),
      ])
      expect([bot.status, charts.status]).toEqual([200, 200])
      const { status, body } = await call(`${url}/admin/audit`, { method: 'GET', headers: bearer(ADMIN_TOKEN) })
      expect(status).toBe(200)
      expect(body.items.map(({ action }: { action: string }) => action)).toEqual(
        expect.arrayContaining(['user.create', 'user-quota.change', 'token.issue', 'bot.issue', 'chart-key.issue']),
      )
    })
  })
})
