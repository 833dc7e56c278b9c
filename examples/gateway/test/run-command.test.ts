import { describe, expect, it } from 'vitest'
import { runCommand } from '../src/cli/run-command.ts'
import { databaseOf, tempDir } from './support/gateway.ts'

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
})
