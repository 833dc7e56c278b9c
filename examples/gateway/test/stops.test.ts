import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectionOf, openSqlite } from '../src/db/sqlite.ts'
import { roomOnDisk } from '../src/health/health.ts'
import { listen } from '../src/http/listener.ts'
import { StartError } from '../src/start/start-error.ts'
import { ENTRY, type TestGateway, tempDir, testGateway } from './support/gateway.ts'

/** One request; answers its status and whether the connection closes, or the code of what broke it off. */
function ask(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, agent }, (answer) => {
      answer.resume().on('end', () => resolve(`${answer.statusCode} ${answer.headers.connection}`))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code))).end()
  })
}

describe('kept-alive connections at a stop', () => {
  it('a stopping server announces the close on connections with requests and breaks none off', async () => {
    const listener = await listen((_req, res) => setImmediate(() => res.end('done')), '127.0.0.1', 0)
    const stopped = { at: 0 }
    const last = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        onTestFinished(() => agent.destroy())
        const answers: string[] = []
        for (let index = 0; index < 200; index++) {
          answers.push(await ask(listener.port, agent))
          if (answers.at(-1) !== '200 keep-alive') break
          if (index === 20 && stopped.at++ === 0) void listener.stop(5_000, 1_000)
        }
        return answers.at(-1)
      }),
    )
    expect(new Set(last)).toEqual(new Set(['200 close']))
  })

  it('a stopping server closes idle connections', async () => {
    const listener = await listen((_req, res) => res.end('done'), '127.0.0.1', 0)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    expect(await ask(listener.port, agent)).toBe('200 keep-alive')
    await listener.stop(60_000, 20)
    expect(await ask(listener.port, agent)).toMatch(/^ECONN(?:REFUSED|RESET)$/)
  })
})

describe('a database that can’t grow', () => {
  it('a database that can’t grow is detected, and the probe leaves nothing behind', async () => {
    const dataDir = tempDir()
    const db = await openSqlite(dataDir)
    onTestFinished(() => db.destroy())
    const file = connectionOf(db)
    if (file === undefined) throw new Error('no embedded database')
    const { check } = roomOnDisk(db, dataDir)
    await check()
    const pages = (): number =>
      Object.values((file.prepare('pragma page_count').all() as object[])[0] ?? {})[0] as number
    const before = pages()
    file.exec(`pragma max_page_count = ${before}`)
    await expect(check()).rejects.toThrow('the database of DATA_DIR cannot grow')
    file.exec('pragma max_page_count = 1000000')
    await check()
    expect(pages()).toBe(before)
  })
})

/** A disk of its own, where this user may have one. */
function smallDisk(): string | undefined {
  const dir = tempDir()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', dir], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['-l', dir]))
  return dir
}

/** Fills a disk, except for some bytes. */
function fill(dataDir: string, left = 0): string {
  const filler = join(dataDir, 'filler')
  for (let size = 4_194_304; size >= 1; size = Math.floor(size / 2)) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Full to the last byte.
    }
  }
  truncateSync(filler, statSync(filler).size - left)
  return filler
}

describe('a full disk', () => {
  it('a start on a full disk fails with one line, wherever the room ends', async (context) => {
    const dataDir = smallDisk()
    if (dataDir === undefined) return context.skip()
    const messages = new Set<string>()
    for (let left = 0; left < 800_000; left += 50_000) {
      const filler = fill(dataDir, left)
      const started = await testGateway({ dataDir }).catch((error: unknown) => error)
      if (started instanceof Error) {
        expect(started).toBeInstanceOf(StartError)
        messages.add(started.message)
      } else await (started as TestGateway).stop()
      for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name))
      expect(existsSync(filler)).toBe(false)
    }
    expect([...messages]).toEqual([`DATA_DIR=${dataDir}: is on a disk that is full; make room, or name another folder`])
  })

  it('a full disk fails /readyz and writes, ends when there is room, and doesn’t prevent a stop', async (context) => {
    const dataDir = smallDisk()
    if (dataDir === undefined) return context.skip()
    const gateway = await testGateway({ dataDir })
    const { send, log } = gateway
    const ready = async (): Promise<unknown[]> => {
      const { status, body } = await send('GET', '/readyz', { token: null })
      return [status, body.msg]
    }
    expect((await ready())[0]).toBe(200)
    const filler = fill(dataDir)
    gateway.clock.advance(1_000)
    expect(await ready()).toEqual([503, 'No answer from the disk of the database, which is full.'])
    const statuses = new Set<number>()
    for (let index = 0; index < 5; index++) {
      statuses.add((await send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })).status)
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 429 && status !== 503)).toEqual([])
    await gateway.stop()
    for (const line of log.filter((each) => each.includes('while stopping'))) expect(line).not.toContain('stack')
    writeFileSync(filler, '')
    const again = await testGateway({ dataDir })
    expect((await again.send('GET', '/readyz', { token: null })).status).toBe(200)
    await again.stop()
  })
})
