import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { slowTests } from '@scoregw/server-kit'
import { SignJWT } from 'jose'
import Database from 'libsql'
import { describe, expect, it, vi } from 'vitest'
import { ADMIN_TOKEN, type Answer, databaseOf, ENTRY, sender, tempDir, USER_TOKEN, usedOf } from './support/gateway.ts'
import { run, runGateway, runSources } from './support/process.ts'
import { shared } from './support/shared.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

const SETTINGS = '/admin/quota/settings'
const UNLIMITED = { overrides: { write: { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 } }, bypassSite: true }
const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

type Send = ReturnType<typeof sender>

function settingsBy(send: Send): Promise<Answer> {
  return send('GET', SETTINGS, { token: ADMIN_TOKEN })
}

async function scoresBy(send: Send): Promise<{ dxScore: number }[]> {
  return (await send('POST', '/v1/user/music')).body.businessData.userMusicDetailList
}

/** What the rows of counters say, as text. */
function countedTokens(dataDir: string): string {
  const file = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  const rows = file.prepare('select cells from counter_rows order by key').all() as {
    cells: string
  }[]
  file.close()
  return rows.map(({ cells }) => cells).join('\n')
}

describe('a gateway that is killed and started again', () => {
  const story = shared(async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const send = sender(first.baseUrl)
    const upsert = (dxScore: number): Promise<Answer> =>
      send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, musicId: 102, dxScore }] } })
    const stored = [await upsert(1)]
    const scores = await scoresBy(send)
    const used = await usedOf({ send })
    for (const dxScore of [2, 3, 4]) stored.push(await upsert(dxScore))
    const refused = await upsert(5)
    const { version: _, ...document } = (await settingsBy(send)).body
    const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '"0"' }, body: { ...document, mode: 'lenient' } }
    const changed = await send('PUT', SETTINGS, put)
    const admitted = await upsert(6)
    const status = (await send('GET', '/me/quota')).body
    first.process.kill('SIGKILL')
    const end = await first.ended()

    const again = sender((await runGateway(dataDir, TOKENS)).baseUrl)
    const after = {
      status: (await again('GET', '/me/quota')).body,
      settings: (await settingsBy(again)).body,
      scores: await scoresBy(again),
    }
    const last = { body: { musicList: [{ ...ENTRY, dxScore: 7 }] } }
    const lasts = [await again('POST', '/v1/music/upsert', last), await again('POST', '/v1/music/upsert', last)]
    return { stored, scores, used, refused, changed, admitted, status, end, after, lasts }
  })

  it('a gateway process stores upserted scores and charges writes and reads', () => {
    const { stored, scores, used } = story()
    expect(stored.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(scores).toMatchObject([{ musicId: 101 }, { musicId: 102, dxScore: 1 }, {}, {}])
    expect(used).toEqual({ read: 4, write: 15 })
  })

  it('a gateway process refuses an upsert above the limit', () => {
    const { refused } = story()
    expect(refused.status).toBe(429)
    expect(refused.body.quota).toMatchObject({ scope: 'Personal', category: 'write', window: '1h', used: 60 })
  })

  it('a gateway process admits a refused user in lenient mode', () => {
    const { changed, admitted } = story()
    expect([changed.status, admitted.status]).toEqual([200, 200])
  })

  it('a killed gateway has its quota status after a restart', () => {
    const { end, status, after } = story()
    expect(end).toEqual({ code: null, signal: 'SIGKILL' })
    expect(after.status).toEqual(status)
  })

  it('a killed gateway has its settings after a restart', () => {
    expect(story().after.settings).toMatchObject({ version: 1, mode: 'lenient' })
  })

  it('a killed gateway has its scores after a restart', () => {
    expect(story().after.scores.map(({ dxScore }) => dxScore)).toEqual([1544, 6, 1995, 1180])
  })

  it('a killed gateway admits only the remaining tokens after a restart', () => {
    expect(story().lasts.map(({ status }) => status)).toEqual([200, 429])
  })
})

describe('a gateway that is killed during writes', () => {
  it('a gateway killed during writes has every acknowledged score', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const send = sender(first.baseUrl)
    await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: UNLIMITED })
    let acknowledged = 0
    for (let dxScore = 1; dxScore <= 500; dxScore++) {
      const answer = await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore }] } }).catch(
        () => undefined,
      )
      if (answer === undefined) break
      expect(answer.status).toBe(200)
      acknowledged = dxScore
      if (dxScore === 50) first.process.kill('SIGKILL')
    }
    await first.ended()
    const second = await runGateway(dataDir, TOKENS)
    const [score] = await scoresBy(sender(second.baseUrl))
    expect(acknowledged).toBeGreaterThanOrEqual(50)
    expect(score?.dxScore).toBeGreaterThanOrEqual(acknowledged)
  })
})

describe.runIf(slowTests)('two gateways on one file', () => {
  const story = shared(async () => {
    const dataDir = tempDir()
    const env = { DATA_DIR_SHARED: 'true' }
    const both = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
    const { userToken, adminToken } = JSON.parse(readFileSync(join(dataDir, 'demo-credentials.json'), 'utf8'))
    const [one, other] = both.map(({ baseUrl }) => sender(baseUrl)) as [Send, Send]
    const { version: _, ...document } = (await one('GET', SETTINGS, { token: adminToken })).body
    await one('PUT', '/admin/users/demo/quota', { token: adminToken, body: UNLIMITED })
    const limitOf = async (category: 'read' | 'write'): Promise<number> =>
      (await other('GET', '/me/quota', { token: userToken })).body.windows[category][0].limit
    await vi.waitFor(async () => expect(await limitOf('write')).toBe(10 ** 9), { timeout: 30_000, interval: 20 })
    const work = (index: number): Promise<Answer> => {
      const send = index % 2 === 0 ? one : other
      const put = { token: adminToken, headers: { 'If-Match': '*' }, body: document }
      const musicList = [0, 1, 2, 3].map((level) => ({ ...ENTRY, musicId: 10104, level, dxScore: index }))
      return index < 188
        ? send('POST', '/v1/music/upsert', { token: userToken, body: { musicList } })
        : send('PUT', SETTINGS, put)
    }
    // Some at a time: the last of two hundred would wait longer for the file than for its deadline.
    const left = Array.from({ length: 200 }, (_each, index) => index)
    const statuses: number[] = []
    const worker = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) statuses.push((await work(next)).status)
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    const { version } = (await other('GET', SETTINGS, { token: adminToken })).body
    const lenient = { token: adminToken, headers: { 'If-Match': '"12"' }, body: { ...document, mode: 'lenient' } }
    return { limitOf, statuses, version, changed: await one('PUT', SETTINGS, lenient) }
  })

  it('a user’s limits set through one gateway apply in another on the file', async () => {
    expect(await story().limitOf('write')).toBe(10 ** 9)
  })

  it('200 concurrent writes through two gateways on one file all succeed', () => {
    expect(story().statuses).toEqual(Array(200).fill(200))
  })

  it('settings written through two gateways on one file count every version', () => {
    expect(story().version).toBe(12)
  })

  it('settings changed through one gateway apply in another on the file', async () => {
    expect(story().changed.status).toBe(200)
    await expect.poll(() => story().limitOf('read'), { interval: 20 }).toBe(180)
  })
})

describe.runIf(slowTests)('a second gateway on an unshared file', () => {
  it('a second gateway is rejected in one line until the first has ended, however that ends', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const second = run('main', [], { PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: dataDir })
    expect(await second.ended()).toEqual({ code: 78, signal: null })
    expect(second.stderr()).toMatch(
      /^DATA_DIR=\S+: another gateway serves from it; .*DATABASE_URL.*DATA_DIR_SHARED=true.*\n$/,
    )
    expect((await sender(first.baseUrl)('GET', '/me/quota', { token: TOKENS.DEMO_USER_TOKEN })).status).toBe(200)
    first.process.kill('SIGKILL')
    await first.ended()
    await runGateway(dataDir, TOKENS)
  })

  it.each([
    {
      first: 'false',
      second: 'true',
      fault: /^DATA_DIR=\S+: another gateway serves from it alone; .*DATA_DIR_SHARED=true .*\n$/,
    },
    { first: 'true', second: 'false', fault: /^DATA_DIR=\S+: gateways with DATA_DIR_SHARED=true serve from it; .*\n$/ },
  ])('a gateway is rejected if only one of two shares the file: $first, $second', async ({ first, second, fault }) => {
    const dataDir = tempDir()
    const holder = await runGateway(dataDir, { ...TOKENS, DATA_DIR_SHARED: first })
    const ports = { PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0' }
    const other = run('main', [], { ...ports, DATA_DIR: dataDir, DATA_DIR_SHARED: second })
    // One that serves all the same ends nothing: it fails immediately.
    const served = other.printed(/Score gateway/).catch(() => other.ended())
    expect(await Promise.race([other.ended(), served])).toEqual({ code: 78, signal: null })
    expect(other.stderr()).toMatch(fault)
    expect((await sender(holder.baseUrl)('GET', '/me/quota', { token: TOKENS.DEMO_USER_TOKEN })).status).toBe(200)
    holder.process.kill('SIGKILL')
    await holder.ended()
    // Those that share may start at one time, also after one that was killed.
    const count = second === 'true' ? 3 : 1
    const env = { ...TOKENS, DATA_DIR_SHARED: second }
    await Promise.all(Array.from({ length: count }, () => runGateway(dataDir, env)))
  })
})

describe('stopping a gateway', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'a gateway that gets %s finishes and counts requests in flight and exits with 0',
    async (signal) => {
      const dataDir = tempDir()
      const child = await runGateway(dataDir, TOKENS)
      const agent = new Agent({ keepAlive: true })
      const text = JSON.stringify({ musicList: [ENTRY] })
      const answer = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
        const headers = {
          Authorization: `Bearer ${USER_TOKEN}`,
          'Content-Type': 'application/json',
          'Content-Length': text.length,
          Expect: '100-continue',
        }
        const sent = request(`${child.baseUrl}/v1/music/upsert`, { method: 'POST', agent, headers }, (response) => {
          response
            .resume()
            .on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection }))
        })
        sent.on('error', reject)
        // The server has the head: the request is in flight. Now it gets the signal, and only then the body.
        sent.on('continue', () => {
          child.process.kill(signal)
          child.process.stderr?.on('data', () => {
            if (child.stderr().includes('"stopping"')) sent.end(text)
          })
        })
        sent.flushHeaders()
      })
      expect(await answer).toEqual({ status: 200, connection: 'close' })
      expect(await child.ended()).toEqual({ code: 0, signal: null })
      agent.destroy()
      expect(countedTokens(dataDir)).toMatch(/\b15\b/)
      expect(child.stderr()).toContain('"stopped"')
    },
  )
})

describe('starting a gateway', () => {
  it.runIf(isDeep)(
    'a start prints curl commands that work, and the next start prints the same credentials',
    async () => {
      const dataDir = tempDir()
      const child = await runGateway(dataDir, {}, runSources)
      const lines = child
        .stdout()
        .split('\n')
        .filter((line) => line.includes('curl'))
      const answers: { businessData?: object; windows?: object }[] = []
      for (const line of lines) answers.push(JSON.parse((await promisify(execFile)('bash', ['-c', line])).stdout))
      expect(answers[0]).toMatchObject({ returnCode: 1, businessData: { uploadedMusicCount: 1 } })
      expect(answers[1]).toMatchObject({ windows: { write: [{ used: 15 }, {}, {}, {}, {}, {}] } })
      const credentials = join(dataDir, 'demo-credentials.json')
      expect(statSync(credentials).mode & 0o777).toBe(0o600)
      const tokens = child.stdout().match(/gw_\S{43}$/gm)
      expect(tokens).toHaveLength(2)
      child.process.kill('SIGTERM')
      await child.ended()
      const next = await runGateway(dataDir)
      expect(next.stdout().match(/gw_\S{43}$/gm)).toEqual(tokens)
      expect(JSON.stringify(databaseOf(dataDir))).not.toMatch(/gw_/)
      expect(child.stderr() + next.stderr()).not.toMatch(/gw_/)
    },
  )

  it('a production start has no demo and revokes an earlier demo’s credentials', async () => {
    const dataDir = tempDir()
    const demo = await runGateway(dataDir, TOKENS)
    expect((await sender(demo.baseUrl)('GET', '/me/quota')).status).toBe(200)
    demo.process.kill('SIGTERM')
    await demo.ended()
    const child = await runGateway(dataDir, { NODE_ENV: 'production', JWT_SECRET: 's'.repeat(32) })
    expect(child.stdout()).not.toContain('gw_')
    const send = sender(child.baseUrl)
    expect((await send('GET', '/me/quota')).status).toBe(401)
    expect((await send('GET', '/readyz', { token: null })).status).toBe(200)
    // A user called "admin" by the identity provider is not the demo's administrator.
    const claims = new SignJWT({ sub: 'admin' }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h')
    const token = await claims.sign(new TextEncoder().encode('s'.repeat(32)))
    expect((await send('GET', '/me/quota', { token })).status).toBe(200)
    expect((await send('GET', '/admin/users', { token })).status).toBe(403)
  })

  it('a start with an invalid configuration reports every fault and exits with 78', async () => {
    const env = {
      PORT: '70000',
      CORS_ORIGINS: 'https://a.example.com/path',
      TRUST_PROXY: 'everybody',
      DEMO_USER_TOKEN: 'secret',
    }
    const child = run('main', [], env)
    expect(await child.ended()).toEqual({ code: 78, signal: null })
    for (const name of Object.keys(env)) expect(child.stderr()).toContain(`  ${name}: expected`)
    expect(child.stderr()).not.toContain('secret')
  })
})

describe('the gateway’s command line', () => {
  const story = shared(async () => {
    const dataDir = tempDir()
    const send = sender((await runGateway(dataDir, TOKENS)).baseUrl)
    const command = async (...args: string[]): Promise<{ code: number | null; out: string; err: string }> => {
      const child = run('cli', args, { DATA_DIR: dataDir })
      const { code } = await child.ended()
      return { code, out: child.stdout(), err: child.stderr() }
    }
    return {
      dataDir,
      settingsWith: async (token: string) => (await send('GET', SETTINGS, { token })).status,
      administrator: await command('users', 'create', 'carol', '--admin'),
      player: await command('users', 'create', 'dave'),
      twice: await command('users', 'create', 'dave', '--admin'),
      list: await command('users', 'list'),
    }
  })

  it('users create --admin creates an administrator while the gateway runs and prints the token once', async () => {
    const { administrator, settingsWith, dataDir } = story()
    const token = administrator.out.trim()
    expect(administrator.code).toBe(0)
    expect(token).toMatch(/^gw_[A-Za-z0-9_-]{43}$/)
    expect(await settingsWith(token)).toBe(200)
    expect(JSON.stringify(databaseOf(dataDir))).not.toContain(token)
  })

  it('users create without --admin creates a player', async () => {
    const { player, settingsWith } = story()
    expect(player.code).toBe(0)
    expect(await settingsWith(player.out.trim())).toBe(403)
  })

  it('users create rejects an existing id', () => {
    const { twice } = story()
    expect(twice.code).toBe(64)
    expect(twice.err).toContain('There is a user dave already.')
  })

  it('users list prints id, role and name', () => {
    expect(story().list.out).toBe('admin\tadmin\tadmin\ncarol\tadmin\tcarol\ndave\tplayer\tdave\ndemo\tplayer\tdemo\n')
  })
})
