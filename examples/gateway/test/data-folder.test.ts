import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ADMIN_TOKEN, ENTRY, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { type Child, run, runGateway } from './support/process.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

/** Names and modes of a folder's entries. */
function modesOf(dataDir: string): Record<string, string> {
  return Object.fromEntries(readdirSync(dataDir).map((name) => [name, modeOf(join(dataDir, name))]))
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

/** Every file that the gateway has while it serves, its owner's alone. */
const OWN = {
  'demo-credentials.json': '600',
  'gateway.lock': '600',
  'gateway.lock-journal': '600',
  'gateway.sqlite': '600',
  'gateway.sqlite-shm': '600',
  'gateway.sqlite-wal': '600',
}

describe('files of the data folder', () => {
  it.each([0o000, 0o022])(
    'files in the data folder are readable only by their owner, with the umask %i',
    async (mask) => {
      const before = process.umask(mask)
      onTestFinished(() => void process.umask(before))
      const dataDir = tempDir()
      chmodSync(dataDir, 0o755)
      const first = await runGateway(dataDir)
      expect(modesOf(dataDir)).toEqual(OWN)
      first.process.kill('SIGTERM')
      await first.ended()
      // SQLite makes these by itself, beside a database that was there.
      for (const suffix of ['-wal', '-shm']) rmSync(join(dataDir, `gateway.sqlite${suffix}`), { force: true })
      const second = await runGateway(dataDir, TOKENS)
      await sender(second.baseUrl)('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
      expect(modesOf(dataDir)).toEqual(OWN)
    },
  )

  it('files with other permissions are corrected, and a readable folder is reported', async () => {
    const dataDir = tempDir()
    const first = await runGateway(dataDir, TOKENS)
    await sender(first.baseUrl)('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    first.process.kill('SIGKILL')
    await first.ended()
    expect(warningsOf(first)).toEqual([])
    chmodSync(dataDir, 0o755)
    const publish = (): void => {
      for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644)
    }
    publish()
    const cli = run('cli', ['users', 'list'], { DATA_DIR: dataDir })
    expect(await cli.ended()).toEqual({ code: 0, signal: null })
    expect(modesOf(dataDir)).toMatchObject({ 'gateway.sqlite': '600' })
    publish()
    const second = await runGateway(dataDir)
    expect(modesOf(dataDir)).toEqual(OWN)
    const warning = `other users of this machine can read this folder (mode 755); restrict it: chmod 700 ${dataDir}`
    expect(warningsOf(second)).toEqual([`DATA_DIR=${dataDir}: ${warning}`])
    // Others' rights to the folder may be meant: it stays as it is.
    expect(modeOf(dataDir)).toBe('755')
  })
})

function warningsOf(child: Child): string[] {
  const lines = child.stderr().split('\n').filter(Boolean)
  const entries = lines.map((line) => JSON.parse(line) as { level: number; msg: string })
  return entries.filter(({ level }) => level === 40).map(({ msg }) => msg)
}
