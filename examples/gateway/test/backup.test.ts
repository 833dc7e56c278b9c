import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, ENTRY, sender, tempDir, USER_TOKEN, usedOf } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'

const admin = { token: ADMIN_TOKEN }

describe.runIf(slowTests && postgresTests && redisTests)('a backup', () => {
  it('gateways that start on a restored backup have its data and limits, and the windows that are open', async () => {
    const [postgres, redis] = await Promise.all([postgresServer(), redisServer()])
    const databaseUrl = await postgres.createDatabase()
    const tokens = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
    const start = () => runGateway(tempDir(), { ...tokens, DATABASE_URL: databaseUrl, REDIS_URL: redis.url })
    const send: ReturnType<typeof sender> = (...request) => sender(gateways[0]?.baseUrl ?? '')(...request)
    let gateways = [await start(), await start()]
    const upsert = async (musicId: number) =>
      (await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, musicId }] } })).status
    const stored = async (): Promise<number[]> =>
      (await send('POST', '/v1/user/music')).body.businessData.userMusicDetailList
        .filter(({ source }: { source: string }) => source === 'api')
        .map(({ musicId }: { musicId: number }) => musicId)
    const limit = async (write: number): Promise<void> => {
      const overrides = { write: { '1h': write, '5h': write, '1d': write } }
      expect((await send('PUT', '/admin/users/demo/quota', { ...admin, body: { overrides } })).status).toBe(200)
    }

    await limit(45)
    expect(await upsert(101)).toBe(200)
    const before = await stored()
    const file = join(tempDir(), 'gateway.dump')
    // As the README does.
    await postgres.run('pg_dump', ['--format=custom', `--file=${file}`, databaseUrl])
    await limit(1_000)
    expect(await upsert(102)).toBe(200)
    const { token } = (await send('POST', '/admin/users/demo/tokens', { ...admin, body: {} })).body
    expect((await send('GET', '/me/quota', { token })).status).toBe(200)
    for (const { process, ended } of gateways) {
      process.kill('SIGTERM')
      expect(await ended()).toEqual({ code: 0, signal: null })
    }
    await postgres.run('pg_restore', ['--clean', '--if-exists', `--dbname=${databaseUrl}`, file])
    gateways = [await start(), await start()]

    expect(await stored()).toEqual(before)
    expect((await send('GET', '/me/quota', { token })).status).toBe(401)
    // Two upserts are charged, in Redis; the limit of the backup has room for one more.
    expect((await usedOf({ send })).write).toBe(30)
    expect([await upsert(102), await upsert(103)]).toEqual([200, 429])
    const [, other = gateways[0]] = gateways
    const there = sender(other?.baseUrl ?? '')
    expect((await usedOf({ send: there })).write).toBe(45)
    expect((await there('GET', '/admin/users/demo/quota', admin)).body.overrides.write['1h']).toBe(45)
  })
})
