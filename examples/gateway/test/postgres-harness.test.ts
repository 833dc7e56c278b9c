import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgresServer } from './support/postgres.ts'

/** Where the server keeps its files, and its first process. */
async function traces(postgres: PostgresServer): Promise<{ dir: string; pid: number }> {
  const [row] = await postgres.sql('SHOW data_directory')
  const data = String(row?.data_directory)
  return { dir: dirname(data), pid: Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]) }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.runIf(postgresTests)('private PostgreSQL servers', () => {
  it('a private server starts, serves separate databases, and stops', async () => {
    const postgres = await postgresServer()
    const { dir, pid } = await traces(postgres)
    const [one, two] = await Promise.all([postgres.createDatabase(), postgres.createDatabase()])
    await postgres.sql('CREATE TABLE t (n int); INSERT INTO t VALUES (1)', one)
    await postgres.sql('CREATE TABLE t (n int); INSERT INTO t VALUES (2)', two)
    expect(await postgres.sql('SELECT n FROM t', one)).toEqual([{ n: 1 }])
    expect(await postgres.sql('SELECT n FROM t', two)).toEqual([{ n: 2 }])
    await expect(postgres.sql('SELECT n FROM t')).rejects.toThrow('relation "t" does not exist')
    await postgres.stop()
    expect([existsSync(dir), isAlive(pid), await accepts(postgres.port)]).toEqual([false, false, false])
  })

  it('a durable private server keeps committed data when it is killed', async () => {
    const postgres = await postgresServer({ durable: true })
    await postgres.sql('CREATE TABLE t (n int)')
    const client = await connected(postgres.url)
    await client.query('INSERT INTO t VALUES (1)')
    await postgres.kill()
    expect(await accepts(postgres.port)).toBe(false)
    await postgres.restart()
    expect(await postgres.sql('SELECT n FROM t')).toEqual([{ n: 1 }])
    await postgres.restart()
    expect(await postgres.sql('SELECT n FROM t')).toEqual([{ n: 1 }])
  })

  it('a paused server keeps connections open and answers everything later', async () => {
    const [postgres, other] = await Promise.all([postgresServer(), postgresServer()])
    const client = await connected(postgres.url)
    postgres.pause()
    let answers = 0
    const asked = [client.query('SELECT 1'), postgres.sql('SELECT 1')].map((answer) => answer.then(() => answers++))
    expect(await accepts(postgres.port)).toBe(true)
    for (let times = 0; times < 10; times++) await other.sql('SELECT 1')
    expect(answers).toBe(0)
    postgres.resume()
    await Promise.all(asked)

    // A paused one goes as any other.
    const { dir, pid } = await traces(postgres)
    postgres.pause()
    await postgres.stop()
    expect([existsSync(dir), isAlive(pid)]).toEqual([false, false])
  })

  it('a server that doesn’t start reports the reason', async () => {
    await expect(startPostgres({ settings: { no_such_setting: 'x' } })).rejects.toThrow(/no_such_setting/)
  })

  it('a private server ends when its starting process is killed', async () => {
    const script = `
      import { startPostgres } from '@scoregw/postgres-server'
      const postgres = await startPostgres()
      const [{ data_directory }] = await postgres.sql('SHOW data_directory')
      console.log(JSON.stringify({ data: data_directory, port: postgres.port }))
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { data, port } = JSON.parse(line.toString()) as { data: string; port: number }
    const pid = Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)
    expect(await accepts(port)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => existsSync(dirname(data)) || isAlive(pid)).toBe(false)
  })
})

describe('a machine without PostgreSQL', () => {
  it('the error for a machine without PostgreSQL says what to install', async () => {
    vi.stubEnv('POSTGRES_BIN_DIR', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.resetModules()
    const { startPostgres } = await import('@scoregw/postgres-server')
    await expect(startPostgres()).rejects.toThrow(
      'POSTGRES_BIN_DIR has no postgres and initdb: /nowhere. No PostgreSQL server for the tests: install postgresql',
    )
  })
})
