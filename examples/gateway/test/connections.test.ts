import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Connections } from '../src/http/connections.ts'
import { type Listener, listen, type SlowLimits } from '../src/http/listener.ts'
import { createLogger } from '../src/log/logger.ts'
import { tempDir } from './support/gateway.ts'
import { runGateway, runWithin } from './support/process.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

const FOREVER: SlowLimits = {
  headMs: 60_000,
  requestMs: 60_000,
  checkMs: 20,
  stallMs: 60_000,
  lingerMs: 60_000,
}
const POLL = { interval: 20, timeout: 30_000 }

/** Slow requests: nothing, half a head, half a body. */
const SLOW = ['', 'GET / HTTP/1.1\r\nHost: a\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345']

interface Listening {
  readonly listener: Listener
  readonly connections: Connections
  readonly log: string[]
}

async function listening(
  handler: RequestListener,
  slow: Partial<SlowLimits>,
  limits = { all: 0, ofAddress: 0 },
): Promise<Listening> {
  const log: string[] = []
  const connections = new Connections(limits, createLogger('info', { write: (line) => log.push(line) }))
  const listener = await listen(handler, '127.0.0.1', 0, { connections, slow: { ...FOREVER, ...slow } })
  onTestFinished(() => listener.stop(0))
  return { listener, connections, log }
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
    const { listener, connections } = await listening((req, res) => req.resume().on('end', () => res.end()), {
      headMs: 50,
      requestMs: 100,
      lingerMs: 50,
    })
    const clients = await Promise.all(SLOW.map((sent) => open(listener.port, sent)))
    for (const answer of await Promise.all(clients.map(read))) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    await expect.poll(() => connections.open, POLL).toBe(0)
  })

  it('a body that arrives after its 408 isn’t processed', async () => {
    let requests = 0
    const { listener, connections } = await listening((_req, res) => res.end(String(requests++)), {
      headMs: 50,
      requestMs: 100,
    })
    const client = await open(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n')
    await once(client.resume(), 'end')
    client.write('\r\n')
    await expect.poll(() => connections.open, POLL).toBe(0)
    expect(requests).toBe(0)
  })

  it('a connection whose client doesn’t read a long response is closed', async () => {
    const { listener, connections } = await listening((_req, res) => res.end(Buffer.alloc(67_108_864)), { stallMs: 50 })
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => open(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')),
    )
    for (const client of clients) client.pause()
    await expect.poll(() => connections.open, POLL).toBe(0)
  })

  it('a connection stays open while its request is processed, however long that takes', async () => {
    // Answered after three checks of an idle connection; the first leaves a slow machine time to read the request.
    const stallMs = 1_000
    const { listener } = await listening((_req, res) => setTimeout(() => res.end('done'), 3.5 * stallMs), { stallMs })
    const client = await open(listener.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(await read(client)).toMatch(/^HTTP\/1\.1 200 [\s\S]*done/)
  })

  it('a connection without a request doesn’t keep a server from stopping', async () => {
    const { listener, connections } = await listening((_req, res) => res.end(), { lingerMs: 50 })
    await Promise.all(SLOW.slice(0, 2).map((sent) => open(listener.port, sent)))
    await expect.poll(() => connections.open, POLL).toBe(2)
    // The grace is longer than this test may take.
    await listener.stop(3_600_000, 20)
    await expect.poll(() => connections.open, POLL).toBe(0)
  })
})

describe('connection limits', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  it('connections above an address’s limit are closed, and new ones are accepted when some end', async () => {
    const { listener, connections, log } = await listening(
      (_req, res) => res.end('served'),
      {},
      { all: 0, ofAddress: 3 },
    )
    const clients = await Promise.all(Array.from({ length: 3 }, () => open(listener.port, '')))
    await expect.poll(() => connections.open, POLL).toBe(3)
    for (let index = 0; index < 5; index++) expect(await read(await open(listener.port, GET))).toBe('')
    expect(await read(await open(listener.port, GET, '127.0.0.2'))).toContain('served')
    clients[0]?.destroy()
    await expect.poll(() => connections.open, POLL).toBe(2)
    expect(await read(await open(listener.port, GET))).toContain('served')
    expect(log.filter((line) => line.includes('connections are refused'))).toHaveLength(1)
  })

  it('connections above the total limit are closed from any address', async () => {
    const { listener, connections } = await listening((_req, res) => res.end('served'), {}, { all: 3, ofAddress: 0 })
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    await Promise.all(addresses.map((address) => open(listener.port, '', address)))
    await expect.poll(() => connections.open, POLL).toBe(3)
    expect(await read(await open(listener.port, GET, '127.0.0.4'))).toBe('')
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

  it('a flood from one address leaves room for others, and the process can stop', async () => {
    const { served, stopped } = await flooded(1, { MAX_CONNECTIONS: '300', MAX_CONNECTIONS_PER_ADDRESS: '100' })
    for (let index = 0; index < 20; index++) expect(await served()).toContain('alive')
    expect(await stopped()).toEqual({ code: 0, signal: null })
  })

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
