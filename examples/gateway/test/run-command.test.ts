import { describe, expect, it } from 'vitest'
import { runCommand } from '../src/cli/run-command.ts'
import { databaseOf, tempDir, testGateway } from './support/gateway.ts'

describe('a command', () => {
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
    [['bots', 'list']],
  ])('that says nothing that can be done exits with 64 and changes nothing: %o', async (args) => {
    const dataDir = tempDir()
    expect(await runCommand(['users', 'list'], { DATA_DIR: dataDir })).toEqual({ code: 0, out: '', err: '' })
    const before = databaseOf(dataDir)
    const { code, out, err } = await runCommand(args, { DATA_DIR: dataDir })
    expect([code, out]).toEqual([64, ''])
    expect(err).not.toBe('')
    expect(databaseOf(dataDir)).toEqual(before)
  })

  it('tells how it is used', async () => {
    expect(await runCommand(['--help'], {})).toMatchObject({
      code: 0,
      out: expect.stringContaining('users create NAME'),
    })
  })

  it('with a faulty environment exits with 78', async () => {
    expect((await runCommand(['users', 'list'], { PORT: 'x', DATA_DIR: tempDir() })).code).toBe(78)
  })

  it('makes tokens and takes them back, also while the gateway runs', { timeout: 30_000 }, async () => {
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

  it('refuses a label that belongs to the demo', async () => {
    const env = { DATA_DIR: tempDir() }
    await runCommand(['users', 'create', 'carol'], env)
    expect((await runCommand(['tokens', 'create', 'carol', '--label', 'demo'], env)).code).toBe(64)
  })
})
