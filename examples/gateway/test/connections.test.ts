import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Listener, listen, type SlowLimits } from '../src/http/listener.ts'
import { tempDir } from './support/gateway.ts'
import { runGateway, runWithin } from './support/process.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

const FOREVER: SlowLimits = {
  headMs: 60_000,
  requestMs: 60_000,
  checkMs: 20,
  silentMs: 60_000,
  lingerMs: 60_000,
}
const POLL = { interval: 20, timeout: 30_000 }

/** Slow requests: nothing, half a head, half a body. */
const SLOW = ['', 'GET / HTTP/1.1\r\nHost: a\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345']

interface Listening {
  readonly listener: Listener
  /** How many connections are open. */
  open(): number
}

async function listening(handler: RequestListener, slow: Partial<SlowLimits>, maxConnections = 0): Promise<Listening> {
  const sockets = new Set<Socket>()
  const onConnection = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  subscribe('net.server.socket', onConnection)
  onTestFinished(() => void unsubscribe('net.server.socket', onConnection))
  const listener = await listen(handler, '127.0.0.1', 0, { maxConnections, slow: { ...FOREVER, ...slow } })
  onTestFinished(() => listener.stop(0))
  return { listener, open: () => sockets.size }
}

/** A client that never closes its side of the connection. */
async function open(port: number, sent: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(sent)
  return socket
}

/** Reads until the connection ends, or breaks. */
async function read(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve))
  return text
}

describe('single connections', () => {
  it('a connection whose client keeps it open after a 408 is closed', async () => {
    const { listener, open: opened } = await listening((req, res) => req.resume().on('end', () => res.end()), {
      headMs: 50,
      requestMs: 100,
      lingerMs: 50,
    })
    const clients = await Promise.all(SLOW.map((sent) => open(listener.port, sent)))
    for (const answer of await Promise.all(clients.map(read))) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    await expect.poll(opened, POLL).toBe(0)
  })

  it('a body that arrives after its 408 isn’t processed', async () => {
    let requests = 0
    const { listener, open: opened } = await listening((_req, res) => res.end(String(requests++)), {
      headMs: 50,
      requestMs: 100,
    })
    const client = await open(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n')
    await once(client.resume(), 'end')
    client.write('\r\n')
    await expect.poll(opened, POLL).toBe(0)
    expect(requests).toBe(0)
  })

  it('a connection whose client doesn’t read a long response is closed', async () => {
    const { listener, open: opened } = await listening((_req, res) => res.end(Buffer.alloc(67_108_864)), {
      silentMs: 50,
    })
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => open(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')),
    )
    for (const client of clients) client.pause()
    await expect.poll(opened, POLL).toBe(0)
  })

  it('a connection without a request doesn’t keep a server from stopping', async () => {
    const { listener, open: opened } = await listening((_req, res) => res.end(), { lingerMs: 50 })
    await Promise.all(SLOW.slice(0, 2).map((sent) => open(listener.port, sent)))
    await expect.poll(opened, POLL).toBe(2)
    // The grace is longer than this test may take.
    await listener.stop(3_600_000, 20)
    await expect.poll(opened, POLL).toBe(0)
  })
})

describe('the connection limit', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  it('connections above the limit are closed, and new ones are accepted when some end', async () => {
    const { listener, open: opened } = await listening((_req, res) => res.end('served'), {}, 3)
    const clients = await Promise.all(Array.from({ length: 3 }, () => open(listener.port, '')))
    await expect.poll(opened, POLL).toBe(3)
    expect(await read(await open(listener.port, GET))).toBe('')
    clients[0]?.destroy()
    await expect.poll(opened, POLL).toBe(2)
    expect(await read(await open(listener.port, GET))).toContain('served')
  })
})

/** A gateway process that may have fewer descriptors than its attackers have connections. */
describe('floods of connections', { timeout: 120_000 }, () => {
  const DESCRIPTORS = 1_024
  const FLOOD = 1_100
  const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  const flooded = async (addresses: number, env: Record<string, string>) => {
    const child = await runGateway(tempDir(), env, runWithin(DESCRIPTORS))
    const port = Number(new URL(child.baseUrl).port)
    const clients = await Promise.all(
      Array.from({ length: FLOOD }, (_, index) =>
        open(port, SLOW[index % 3] as string, `127.0.1.${1 + (index % addresses)}`),
      ),
    )
    const descriptors = (): number => readdirSync(`/proc/${child.process.pid}/fd`).length
    const served = async (): Promise<string> => read(await open(port, HEALTH, '127.0.0.9'))
    const stopped = async (): Promise<unknown> => {
      child.process.kill('SIGTERM')
      return child.ended()
    }
    return { clients, descriptors, served, stopped }
  }

  // Waits for the gateway's own time limits.
  it.runIf(isDeep)('a flood ends when its clients got a 408, whether they close or not', async () => {
    const { clients, descriptors, served, stopped } = await flooded(50, { MAX_CONNECTIONS: '0' })
    await expect.poll(descriptors, POLL).toBeGreaterThan(DESCRIPTORS / 2)
    for (const client of clients) client.resume()
    await expect.poll(descriptors, { interval: 200, timeout: 90_000 }).toBeLessThan(100)
    for (let index = 0; index < 20; index++) expect(await served()).toContain('alive')
    expect(await stopped()).toEqual({ code: 0, signal: null })
  })
})
