import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENTRY, testGateway, usedOf } from './support/gateway.ts'
import { BOT_TOKEN, botOf } from './support/sync.ts'

describe('paths known to public clients', () => {
  it('the preview shows who a user is and when the player last played', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    const { body } = await send('POST', '/v1/user/preview', { body: {} })
    expect(body).toEqual({
      returnCode: 1,
      code: 0,
      msg: 'ok',
      returnMessage: 'ok',
      businessData: { userId: 'demo', userName: 'demo', playerRating: 0, isLogin: false, lastPlayDate: null },
    })
    expect(await usedOf(gateway)).toEqual({ read: 2, write: 0 })
  })

  it('lists that the gateway doesn’t have are empty', async () => {
    const gateway = await testGateway()
    const regions = await gateway.send('POST', '/v1/user/region')
    expect(regions.body.businessData).toEqual({ length: 0, userRegionList: [] })
    const queue = await gateway.send('GET', '/v1/charge/queue')
    expect(queue.body.businessData).toEqual({ length: 0, queue: [] })
    expect(await usedOf(gateway)).toEqual({ read: 4, write: 0 })
  })

  it('paths of the game’s servers don’t exist', async () => {
    const gateway = await testGateway()
    for (const path of ['/v1/item/upsert', '/v1/user/upsert-all', '/v1/kaleidx-scope/upsert']) {
      const { status, body } = await gateway.send('POST', path, { body: { qrcode: 'q' } })
      expect([status, body.error]).toEqual([404, 'not_found'])
    }
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })

  it('a QR code or token in a request is neither logged, stored nor returned', async () => {
    const test = await testGateway({ env: { LOG_LEVEL: 'trace', BOT_TOKEN } })
    const { send, log, dataDir, gateway } = test
    const secrets = { qrcode: 'SGWCMAID-qr-0123456789', token: 'token-nobody-asked-for-0123456789' }
    const query = new URLSearchParams(secrets).toString()
    const bodies: Record<string, object> = {
      '/v1/music/upsert': { musicList: [{ ...ENTRY, ...secrets }] },
      '/v1/music/delete': { musicId: ENTRY.musicId, level: ENTRY.level },
      '/v1/charge': { chargeId: 2 },
      '/v1/user/clear': { confirm: true },
    }
    const reads = ['data', 'preview', 'region', 'music', 'charge', 'item-list', 'kaleidx-scope']
    const paths = [...Object.keys(bodies), ...reads.map((name) => `/v1/user/${name}`)]
    const answers: unknown[] = []
    for (const path of paths) {
      const { status, body } = await send('POST', `${path}?${query}`, { body: { ...bodies[path], ...secrets } })
      expect([path, status]).toEqual([path, 200])
      answers.push(body)
    }
    // Wrong in other ways: the answer names the faults, and nothing else.
    answers.push((await send('POST', '/v1/music/upsert', { body: { musicList: [secrets], ...secrets } })).body)
    answers.push((await send('POST', '/v1/charge', { text: `{"qrcode":"${secrets.qrcode}"`, headers: {} })).body)
    for (const path of ['/v1/charge/queue', '/me/quota', '/me/usage', '/me/usage/stats', '/nowhere']) {
      answers.push((await send('GET', `${path}?${query}`)).body)
    }
    const bot = botOf(`http://127.0.0.1:${gateway.ports.sync}`)
    answers.push((await bot.sync({ qq: 10_001, records: [], ...secrets })).body)
    await test.stop()
    const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
    expect(files.join('').length).toBeGreaterThan(10_000)
    const traces = [...log, ...files, JSON.stringify(answers)].join('\n')
    for (const secret of Object.values(secrets)) expect(traces).not.toContain(secret)
    // The search would find it.
    expect(traces).toContain('/v1/user/preview')
  })
})
