import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { processTests } from '@scoregw/server-kit'
import { SignJWT } from 'jose'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, databaseOf, ENTRY, sender, tempDir, USER_TOKEN, usedOf } from './support/gateway.ts'
import { run, runGateway, runSources } from './support/process.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

/** What the rows of writes say, as text. */
function countedWrites(dataDir: string): string {
  const file = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  const rows = file.prepare("select cells from counter_rows where key like '%/write/%' order by key").all() as {
    cells: string
  }[]
  file.close()
  return rows.map(({ cells }) => cells).join('\n')
}

describe('gateway processes that are killed', () => {
  it('a killed gateway loses no score and forgets no charge', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const send = sender(first.baseUrl)
    const upsert = (dxScore: number): ReturnType<typeof send> =>
      send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, musicId: 102, dxScore }] } })
    expect((await upsert(1)).status).toBe(200)
    const { body } = await send('POST', '/v1/user/music')
    expect(body.businessData.userMusicDetailList).toMatchObject([
      { musicId: 101 },
      { musicId: 102, dxScore: 1 },
      {},
      {},
    ])
    expect(await usedOf({ send })).toEqual({ read: 4, write: 15 })
    for (const dxScore of [2, 3, 4]) expect((await upsert(dxScore)).status).toBe(200)
    const refused = await upsert(5)
    expect(refused.status).toBe(429)
    expect(refused.body.quota).toMatchObject({ scope: 'Personal', category: 'write', window: '1h', used: 60 })

    const settings = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
    const { version: _, ...document } = settings.body
    const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '"0"' }, body: { ...document, mode: 'lenient' } }
    expect((await send('PUT', '/admin/quota/settings', put)).status).toBe(200)
    expect((await upsert(6)).status).toBe(200)

    const status = (await send('GET', '/me/quota')).body
    first.process.kill('SIGKILL')
    expect(await first.ended()).toEqual({ code: null, signal: 'SIGKILL' })

    const second = await runGateway(dataDir, TOKENS)
    const again = sender(second.baseUrl)
    expect((await again('GET', '/me/quota')).body).toEqual(status)
    expect((await again('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body).toMatchObject({
      version: 1,
      mode: 'lenient',
    })
    const scores = (await again('POST', '/v1/user/music')).body.businessData.userMusicDetailList
    expect(scores.map(({ dxScore }: { dxScore: number }) => dxScore)).toEqual([1544, 6, 1995, 1180])
    const body7 = { musicList: [{ ...ENTRY, dxScore: 7 }] }
    expect((await again('POST', '/v1/music/upsert', { body: body7 })).status).toBe(200)
    expect((await again('POST', '/v1/music/upsert', { body: body7 })).status).toBe(429)
  })

  it('a gateway killed during writes has every acknowledged score', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    const send = sender(first.baseUrl)
    const unlimited = { overrides: { write: { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 } }, bypassSite: true }
    await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: unlimited })
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
    const scores = (await sender(second.baseUrl)('POST', '/v1/user/music')).body.businessData.userMusicDetailList
    expect(acknowledged).toBeGreaterThanOrEqual(50)
    expect(scores[0].dxScore).toBeGreaterThanOrEqual(acknowledged)
  })
})

describe.runIf(processTests)('two gateways on one file', () => {
  it('two gateways on one file start together, write together, and see each other’s changes', async () => {
    const dataDir = tempDir()
    const env = { DATA_DIR_SHARED: 'true' }
    const both = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
    const { userToken, adminToken } = JSON.parse(readFileSync(join(dataDir, 'demo-credentials.json'), 'utf8'))
    const senders = both.map(({ baseUrl }) => sender(baseUrl)) as [ReturnType<typeof sender>, ReturnType<typeof sender>]
    const { version: _, ...document } = (await senders[0]('GET', '/admin/quota/settings', { token: adminToken })).body
    const unlimited = { overrides: { write: { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 } }, bypassSite: true }
    await senders[0]('PUT', '/admin/users/demo/quota', { token: adminToken, body: unlimited })
    const own = async (): Promise<number> =>
      (await senders[1]('GET', '/me/quota', { token: userToken })).body.windows.write[0].limit
    await expect.poll(own, { interval: 20 }).toBe(10 ** 9)
    const work = (index: number) => {
      const send = senders[index % 2]!
      const put = { token: adminToken, headers: { 'If-Match': '*' }, body: document }
      const musicList = [0, 1, 2, 3].map((level) => ({ ...ENTRY, musicId: 10104, level, dxScore: index }))
      return index < 188
        ? send('POST', '/v1/music/upsert', { token: userToken, body: { musicList } })
        : send('PUT', '/admin/quota/settings', put)
    }
    // Some at a time: the last of two hundred would wait longer for the file than for its deadline.
    const left = Array.from({ length: 200 }, (_each, index) => index)
    const worker = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) expect((await work(next)).status).toBe(200)
    }
    await Promise.all(Array.from({ length: 16 }, worker))
    const { body } = await senders[1]('GET', '/admin/quota/settings', { token: adminToken })
    expect(body.version).toBe(12)
    const lenient = { token: adminToken, headers: { 'If-Match': '"12"' }, body: { ...document, mode: 'lenient' } }
    expect((await senders[0]('PUT', '/admin/quota/settings', lenient)).status).toBe(200)
    const read = async (): Promise<number> =>
      (await senders[1]('GET', '/me/quota', { token: userToken })).body.windows.read[0].limit
    await expect.poll(read, { interval: 20 }).toBe(180)
  })
})

describe.runIf(processTests)('a second gateway on an unshared file', () => {
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
      expect(countedWrites(dataDir)).toMatch(/\b15\b/)
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
  it('the command line creates users while the gateway runs, prints a token once, and lists users', async () => {
    const dataDir = tempDir()
    const env = { DATA_DIR: dataDir }
    const gateway = await runGateway(dataDir, TOKENS)
    const send = sender(gateway.baseUrl)
    const created = run('cli', ['users', 'create', 'carol', '--admin'], env)
    expect((await created.ended()).code).toBe(0)
    const token = created.stdout().trim()
    expect(token).toMatch(/^gw_[A-Za-z0-9_-]{43}$/)
    expect((await send('GET', '/admin/quota/settings', { token })).status).toBe(200)
    const player = run('cli', ['users', 'create', 'dave'], env)
    expect((await player.ended()).code).toBe(0)
    const refused = await send('GET', '/admin/quota/settings', { token: player.stdout().trim() })
    expect(refused.status).toBe(403)
    const twice = run('cli', ['users', 'create', 'dave', '--admin'], env)
    expect((await twice.ended()).code).toBe(64)
    expect(twice.stderr()).toContain('There is a user dave already.')
    const list = run('cli', ['users', 'list'], env)
    await list.ended()
    expect(list.stdout()).toBe('admin\tadmin\tadmin\ncarol\tadmin\tcarol\ndave\tplayer\tdave\ndemo\tplayer\tdemo\n')
    expect(JSON.stringify(databaseOf(dataDir))).not.toContain(token)
  })
})
