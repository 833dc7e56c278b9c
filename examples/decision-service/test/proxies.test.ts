import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuota } from '@scoregw/quota'
import { findProgram, freePort, type Program, slowTests } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { policy } from '../src/policy.ts'
import { decisionService } from '../src/service.ts'

/** The ports in the configurations, and those that the tests have in their places. */
const PORTS = [8181, 8182, 8183, 8184, 8190]

const NGINX = { names: ['nginx'], debianPackage: 'nginx-light', packagedPath: 'usr/sbin/nginx', help: 'install nginx' }
const CADDY = { names: ['caddy'], debianPackage: 'caddy', packagedPath: 'usr/bin/caddy', help: 'install caddy' }

describe.runIf(slowTests)('the decision service behind proxies', () => {
  const ports = new Map<number, number>()
  const proxies: ChildProcess[] = []
  let folder: string
  let app: Server
  let service: Server
  let user = 0

  const portOf = (port: number): number => ports.get(port)!
  const listening = async (port: number, listener: RequestListener): Promise<Server> => {
    const server = createServer(listener).listen(portOf(port), '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const startService = () => listening(8181, decisionService(createQuota({ policy })))

  async function start({ path, env }: Program, name: string, args: readonly string[]): Promise<void> {
    let text = await readFile(join(import.meta.dirname, '..', 'proxies', name), 'utf8')
    for (const port of PORTS) text = text.replaceAll(`:${port}`, `:${portOf(port)}`)
    await writeFile(join(folder, name), text)
    const home = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    proxies.push(spawn(path, args, { cwd: folder, env: { ...env, ...home }, stdio: 'ignore' }))
  }

  beforeAll(async () => {
    for (const port of PORTS) ports.set(port, await freePort())
    folder = await mkdtemp(join(tmpdir(), 'quota-proxies-'))
    await mkdir(join(folder, 'tmp'))
    app = await listening(8190, (_request, response) => response.end('hello'))
    service = await startService()
    await start(await findProgram(NGINX), 'nginx.conf', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'])
    await start(await findProgram(CADDY), 'Caddyfile', ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'])
    for (const port of [8182, 8183, 8184]) {
      await vi.waitFor(async () => expect(await statusAt(port)).toBe(200), { timeout: 60_000 })
    }
  }, 120_000)

  afterAll(async () => {
    for (const proxy of proxies) {
      proxy.kill('SIGTERM')
      if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit')
    }
    for (const server of [app, service]) {
      server.closeAllConnections()
      server.close()
    }
    await rm(folder, { recursive: true, force: true })
  })

  /** A request of a user. */
  function sent(port: number, name: string, method = 'GET'): Promise<Response> {
    return fetch(`http://127.0.0.1:${portOf(port)}/`, { method, headers: { 'x-user': name } })
  }

  async function statusAt(port: number): Promise<number> {
    user++
    return (await sent(port, `first-${user}`)).status
  }

  it.each([
    ['nginx auth_request', 8182, true],
    ['Caddy forward_auth', 8183, false],
    ['Caddy, written out', 8184, true],
  ])('%s charges the request’s method and answers 429 with the retry time', async (name, port, hasFields) => {
    const statuses: number[] = []
    // A write costs 5 of 60.
    for (let i = 0; i < 12; i++) {
      const response = await sent(port, name, 'POST')
      statuses.push(response.status)
      expect(await response.text()).toBe('hello')
      expect(response.headers.has('ratelimit')).toBe(hasFields)
    }
    expect(statuses).toEqual(Array.from({ length: 12 }, () => 200))
    const refused = await sent(port, name, 'POST')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit')).toMatch(/r=0/)
    expect(await refused.text()).toMatch(/quota|limit/i)
  })

  it('requests pass or get 502 while the service is down, as configured', async () => {
    service.closeAllConnections()
    service.close()
    await once(service, 'close')
    expect([await statusAt(8182), await statusAt(8183), await statusAt(8184)]).toEqual([200, 502, 200])
    service = await startService()
  })
})
