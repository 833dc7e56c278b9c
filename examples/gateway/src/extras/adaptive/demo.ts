import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { type Gateway, startGateway } from '../../gateway.ts'
import { createLogger } from '../../log/logger.ts'
import { bypassMember, sharedLayers } from '../../quota/layer-members.ts'
import { newToken } from '../../users/tokens.ts'

const MINUTE_MS = 60_000
/** Requests per minute. Half of them go to the source, enough for the law to judge it. */
const CALLS_A_MINUTE = 8
const HEALTHY_MINUTES = 35
const OUTAGE_MINUTES = 20
/** The factor has returned to 1 by then. */
const MAX_MINUTES = 360
const FULL = 1

/**
 * Demonstrates mode `adaptive`. It runs a gateway with a simulated clock, a score source that fails for twenty minutes,
 * and constant requests. Prints each move of the factor with its reason, and the failures as in the administrators'
 * chart.
 *
 * @param print takes a line
 */
export async function adaptiveDemo(print: (line: string) => void): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adaptive-demo-'))
  const source = await failingSource()
  const clock = { nowMs: Date.UTC(2026, 7, 6, 8), now: () => clock.nowMs }
  const tokens = { user: newToken(), admin: newToken() }
  const config = loadConfig({
    PORT: '0',
    SYNC_PORT: '0',
    CHARTS_PORT: '0',
    DATA_DIR: dataDir,
    FISH_BASE_URL: source.baseUrl,
    DEMO_USER_TOKEN: tokens.user,
    DEMO_ADMIN_TOKEN: tokens.admin,
  })
  const gateway = await startGateway(config, createLogger('silent'), { clock })
  try {
    print('The clock of this gateway is turned by hand: minutes pass as fast as requests are answered.')
    await new Demo(gateway, source, clock, tokens, print).run()
  } finally {
    await gateway.stop()
    source.server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Source {
  readonly server: Server
  readonly baseUrl: string
  isFailing: boolean
}

/** Starts a source that returns no records, or 500. */
async function failingSource(): Promise<Source> {
  const empty = { username: 'demo', nickname: 'demo', rating: 0, additional_rating: 0, plate: '', records: [] }
  const server = createServer((_req, res) => {
    res.writeHead(source.isFailing ? 500 : 200, { 'Content-Type': 'application/json', Connection: 'close' })
    res.end(JSON.stringify(empty))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const source: Source = { server, baseUrl: `http://127.0.0.1:${port}`, isFailing: false }
  return source
}

interface Tick {
  readonly at: string
  readonly msg: string
}

class Demo {
  readonly #gateway: Gateway
  readonly #source: Source
  readonly #clock: { nowMs: number }
  readonly #tokens: { readonly user: string; readonly admin: string }
  readonly #print: (line: string) => void

  constructor(
    gateway: Gateway,
    source: Source,
    clock: { nowMs: number },
    tokens: { readonly user: string; readonly admin: string },
    print: (line: string) => void,
  ) {
    this.#gateway = gateway
    this.#source = source
    this.#clock = clock
    this.#tokens = tokens
    this.#print = print
  }

  async run(): Promise<void> {
    await this.#beginAdaptive()
    await this.#tell('start')
    await this.#minutes(HEALTHY_MINUTES)
    await this.#tell('half of the requests begin to fail')
    this.#source.isFailing = true
    await this.#minutes(OUTAGE_MINUTES)
    await this.#tell('all is well again')
    this.#source.isFailing = false
    await this.#minutes(MAX_MINUTES, FULL)
    await this.#tell('the end')
    await this.#showChart()
  }

  /** Gives the demo's player ample quota, so that only errors move the factor. */
  async #beginAdaptive(): Promise<void> {
    const { version: _, ...settings } = await this.#get('/admin/quota/settings')
    await this.#put('/admin/quota/settings', { ...settings, mode: 'adaptive' })
    const { policy } = this.#gateway.app.quota
    const most = Object.fromEntries(policy.windows.map(({ label }) => [label, 10 ** 9]))
    const overrides = Object.fromEntries(policy.categories.map((category) => [category, most]))
    const bypasses = sharedLayers(policy).map((layer) => [bypassMember(layer), true])
    await this.#put('/admin/users/demo/quota', { overrides, ...Object.fromEntries(bypasses) })
  }

  /** Simulates minutes with requests, until the factor has reached `untilFactor` if given. */
  async #minutes(count: number, untilFactor?: number): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      for (let call = 0; call < CALLS_A_MINUTE; call++) await this.#call(call)
      this.#clock.nowMs += MINUTE_MS
      const before = await this.#adaptive()
      for (const { what, run } of this.#gateway.app.chores) if (what === 'moving the adaptive factor') await run()
      const after = await this.#adaptive()
      if (after.factor !== before.factor) await this.#tell(after.lastTick?.msg ?? '')
      if (after.factor === untilFactor) return
    }
  }

  async #call(call: number): Promise<void> {
    if (call % 2 === 0) await this.#send('GET', '/me/quota', this.#tokens.user)
    else await this.#send('POST', '/v1/update-fish', this.#tokens.user, { token: 'demo' })
  }

  async #tell(what: string): Promise<void> {
    const { factor } = await this.#adaptive()
    // Reads the administrator's limits, which have no overrides.
    const { windows } = await this.#get('/me/quota')
    const time = new Date(this.#clock.nowMs).toISOString().slice(11, 16)
    this.#print(`${time}  factor ${factor.toFixed(2)}  read limit ${windows.read[0].limit} an hour  ${what}`)
  }

  async #showChart(): Promise<void> {
    this.#print('Half hours of the administrators’ chart with failures:')
    const { series } = await this.#get('/admin/usage/failure-rate')
    for (const { ts, calls, serverError } of series) {
      if (serverError > 0) this.#print(`${ts.slice(11, 16)}  ${serverError} of ${calls} requests`)
    }
  }

  async #adaptive(): Promise<{ readonly factor: number; readonly lastTick: Tick | null }> {
    return this.#get('/admin/quota/adaptive')
  }

  async #get(path: string): Promise<ReturnType<typeof JSON.parse>> {
    return (await this.#send('GET', path, this.#tokens.admin)).json()
  }

  async #put(path: string, body: unknown): Promise<void> {
    const { ok, status } = await this.#send('PUT', path, this.#tokens.admin, body, { 'If-Match': '*' })
    if (!ok) throw new Error(`PUT ${path} was answered with ${status}`)
  }

  #send(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...more }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    return fetch(`${this.#gateway.addresses.gateway}${path}`, init)
  }
}

if (process.argv[1] === import.meta.filename) await adaptiveDemo((line) => process.stdout.write(`${line}\n`))
