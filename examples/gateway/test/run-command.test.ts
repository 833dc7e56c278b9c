import { describe, expect, it } from 'vitest'
import { runCommand } from '../src/cli/run-command.ts'
import { databaseOf, tempDir, testGateway } from './support/gateway.ts'

describe('the gateway’s commands', () => {
  it.each([
    [[]],
    [['users']],
    [['users', 'create']],
    [['users', 'create', 'a b']],
    [['users', 'create', 'a/b']],
    [['users', 'create', 'a', 'b']],
    [['users', 'list', '--all']],
    [['users', 'list', '--admin']],
    [['tokens', 'list']],
    [['tokens', 'create']],
    [['tokens', 'create', 'nobody']],
    [['tokens', 'create', 'nobody', '--label', '']],
    [['tokens', 'create', 'nobody', '--admin']],
    [['users', 'create', 'a', '--label', 'x']],
    [['tokens', 'list', 'nobody']],
    [['tokens', 'revoke', 'nobody']],
    [['tokens', 'revoke', 'a', 'b']],
    [['bots', 'list', 'all']],
    [['bots', 'create']],
    [['bots', 'create', 'demo']],
    [['bots', 'create', 'a', '--admin']],
    [['bots', 'revoke', 'nobody']],
    [['chart-keys']],
    [['chart-keys', 'create', '']],
    [['chart-keys', 'revoke', 'nobody']],
    [['users', 'role', 'nobody', 'admin']],
    [['users', 'role', 'nobody']],
  ])('an impossible command exits with 64 and changes nothing: %o', async (args) => {
    const dataDir = tempDir()
    expect(await runCommand(['users', 'list'], { DATA_DIR: dataDir })).toEqual({ code: 0, out: '', err: '' })
    const before = databaseOf(dataDir)
    const { code, out, err } = await runCommand(args, { DATA_DIR: dataDir })
    expect([code, out]).toEqual([64, ''])
    expect(err).not.toBe('')
    expect(databaseOf(dataDir)).toEqual(before)
  })

  it('a command prints its usage', async () => {
    expect(await runCommand(['--help'], {})).toMatchObject({
      code: 0,
      out: expect.stringContaining('users create NAME'),
    })
  })

  it('a command with an invalid environment exits with 78', async () => {
    expect((await runCommand(['users', 'list'], { PORT: 'x', DATA_DIR: tempDir() })).code).toBe(78)
  })

  it('commands create and revoke tokens, also while the gateway runs', async () => {
    const { dataDir, send } = await testGateway()
    const run = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await runCommand(args, { DATA_DIR: dataDir })
      expect([code, err]).toEqual([0, ''])
      return out
    }
    const first = (await run('users', 'create', 'carol', '--admin')).trim()
    const second = (await run('tokens', 'create', 'carol', '--label', 'laptop')).trim()
    const statusOf = async (token: string): Promise<number> => (await send('GET', '/admin/users', { token })).status
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
    const list = (await run('tokens', 'list', 'carol')).trim().split('\n')
    expect(list.map((line) => line.split('\t')[2]).sort()).toEqual(['command line', 'laptop'])
    const id = list.find((line) => line.endsWith('laptop'))?.split('\t')[0] ?? ''
    expect(await run('tokens', 'revoke', id)).toBe('')
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 401])
    const { items } = (await send('GET', '/admin/audit', { token: first })).body
    expect(items).toMatchObject([
      { by: 'command line', action: 'token.revoke', subject: 'carol', before: { id, label: 'laptop' } },
      { by: 'command line', action: 'token.issue', subject: 'carol', after: { id, label: 'laptop' } },
      { by: 'command line', action: 'token.issue', subject: 'carol', after: { label: 'command line' } },
      { by: 'command line', action: 'user.create', subject: 'carol', after: { role: 'admin' } },
    ])
    expect(JSON.stringify(items)).not.toContain(first)
  })

  it('commands create and revoke bot and chart credentials, also while the gateway runs', async () => {
    const { dataDir, gateway } = await testGateway()
    const run = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await runCommand(args, { DATA_DIR: dataDir })
      expect([code, err]).toEqual([0, ''])
      return out.trim()
    }
    const { sync, charts } = gateway.addresses
    for (const [area, header, url] of [
      ['bots', 'Bot-Token', `${sync}/api/bot/player/10001`],
      ['chart-keys', 'X-API-Key', `${charts}/api/v1/charts`],
    ] as const) {
      const token = await run(area, 'create', 'nightly')
      const statusOf = async (): Promise<number> => (await fetch(url, { headers: { [header]: token } })).status
      expect(await statusOf(), area).not.toBe(401)
      const [id = '', time = '', name] = (await run(area, 'list')).split('\n').at(-1)?.split('\t') ?? []
      expect([new Date(time).toISOString(), name]).toEqual([time, 'nightly'])
      expect(await run(area, 'revoke', id)).toBe('')
      expect(await statusOf(), area).toBe(401)
    }
  })

  it('commands give and remove roles, but never the last administrator’s', async () => {
    const { dataDir, send } = await testGateway({
      env: { NODE_ENV: 'production', JWT_SECRET: 's'.repeat(32), DEMO_USER_TOKEN: '', DEMO_ADMIN_TOKEN: '' },
    })
    const run = (...args: string[]) => runCommand(args, { DATA_DIR: dataDir })
    const token = (await run('users', 'create', 'carol')).out.trim()
    const statusOf = async (): Promise<number> => (await send('GET', '/admin/users', { token })).status
    expect(await statusOf()).toBe(403)
    expect(await run('users', 'role', 'carol', 'admin')).toEqual({ code: 0, out: '', err: '' })
    expect(await statusOf()).toBe(200)
    expect((await run('users', 'role', 'carol', 'boss')).code).toBe(64)
    expect(await run('users', 'role', 'carol', 'player')).toMatchObject({
      code: 64,
      err: expect.stringContaining('last administrator'),
    })
    await run('users', 'create', 'dave', '--admin')
    expect((await run('users', 'role', 'carol', 'player')).code).toBe(0)
    expect(await statusOf()).toBe(403)
  })

  it('commands reject a label that belongs to the demo', async () => {
    const env = { DATA_DIR: tempDir() }
    await runCommand(['users', 'create', 'carol'], env)
    expect((await runCommand(['tokens', 'create', 'carol', '--label', 'demo'], env)).code).toBe(64)
  })
})
