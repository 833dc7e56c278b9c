import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { useCleanups } from './support/cleanups.ts'
import { redisTests, startRedis } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

/** A client that gives up at once, so that a lost reply is seen. */
function client(port: number): Redis {
  const redis = new Redis({ port, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, retryStrategy: null! })
  redis.on('error', () => undefined)
  later(() => redis.disconnect())
  return redis
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

describe.runIf(redisTests)('private servers', () => {
  it('a private server starts, answers and stops', async () => {
    const redis = await server()
    expect(await redis.cli('SET', 'k', 'v')).toBe('OK')
    const [, dir] = (await redis.cli('CONFIG', 'GET', 'dir')) as [string, string]
    expect(existsSync(dir)).toBe(true)
    await redis.stop()
    expect(await accepts(redis.port)).toBe(false)
    expect(existsSync(dir)).toBe(false)
  })

  it('a private server with an append-only file keeps acknowledged writes when it is killed', async () => {
    const redis = await server({ aof: true })
    await redis.cli('SET', 'k', 'v')
    await redis.kill()
    expect(await accepts(redis.port)).toBe(false)
    await redis.restart()
    expect(await redis.cli('GET', 'k')).toBe('v')
  })

  it('a paused server keeps connections open and answers nothing', async () => {
    const redis = await server()
    const asking = client(redis.port)
    await asking.ping()
    redis.pause()
    let answered = false
    const answer = asking.incr('n').then(() => {
      answered = true
    })
    expect(await accepts(redis.port)).toBe(true)
    expect(answered).toBe(false)
    redis.resume()
    await answer
  })

  it('the error for a server that doesn’t start has the reason', async () => {
    await expect(startRedis({ args: ['--no-such-option', 'x'] })).rejects.toThrow(/no-such-option/)
  })

  it('a private server ends when the process that started it is killed', async () => {
    const script = `
      import { startRedis } from ${JSON.stringify(join(import.meta.dirname, 'support/redis-server.ts'))}
      const redis = await startRedis()
      const [, dir] = await redis.cli('CONFIG', 'GET', 'dir')
      const pid = /process_id:(\\d+)/.exec(await redis.cli('INFO', 'server'))[1]
      console.log(JSON.stringify({ dir, pid: Number(pid), port: redis.port }))
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { dir, pid, port } = JSON.parse(line.toString()) as { dir: string; pid: number; port: number }
    expect(await accepts(port)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => existsSync(dir) || isAlive(pid)).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.runIf(redisTests)('a proxy', () => {
  async function line() {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    return { redis, proxy, client: client(proxy.port) }
  }

  it('a proxy forwards everything', async () => {
    const { proxy, client } = await line()
    expect(await client.set('k', 'v')).toBe('OK')
    expect(await client.get('k')).toBe('v')
    expect(proxy.openSockets()).toBe(1)
  })

  it('a proxy adds the configured latency', async () => {
    const { proxy, client } = await line()
    await client.ping()
    proxy.latency(30)
    const before = performance.now()
    await client.ping()
    expect(performance.now() - before).toBeGreaterThanOrEqual(59)
  })

  it('a proxy closes the connection after a request was executed, before its reply', async () => {
    const { redis, proxy, client } = await line()
    await client.ping()
    const cut = proxy.cutAfterNextRequest()
    await expect(client.incr('n')).rejects.toThrow()
    await cut
    expect(await redis.cli('GET', 'n')).toBe('1')
    expect(proxy.openSockets()).toBe(0)
  })

  it('a proxy drops replies, then closes the connections that lost one', async () => {
    const { redis, proxy, client } = await line()
    await client.ping()
    proxy.dropReplies(true)
    const answer = client.incr('n')
    answer.catch(() => undefined)
    await expect.poll(() => redis.cli('GET', 'n')).toBe('1')
    proxy.dropReplies(false)
    await expect(answer).rejects.toThrow()
    expect(await redis.cli('GET', 'n')).toBe('1')
  })

  it('a black-hole proxy accepts connections and forwards nothing', async () => {
    const { redis, proxy, client } = await line()
    await client.ping()
    proxy.blackHole(true)
    const answer = client.incr('n')
    answer.catch(() => undefined)
    expect(await accepts(proxy.port)).toBe(true)
    expect(await redis.cli('GET', 'n')).toBeNull()
    proxy.blackHole(false)
    await expect(answer).rejects.toThrow()
    expect(await redis.cli('GET', 'n')).toBeNull()
  })

  it('a proxy refuses new connections and closes open ones', async () => {
    const { proxy, client } = await line()
    await client.ping()
    proxy.refuse(true)
    const closed = once(client, 'end')
    proxy.cutAll()
    await closed
    expect(proxy.openSockets()).toBe(0)
  })
})
